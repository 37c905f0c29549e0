import { type Answer, type Scope, scopeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { searchOf, text } from "../../format/search.ts";

export type Month = Answer<"readMonth">;

export const MONTH_PATH = "/manage/v1/projects/{projectId}/{environment}/months/{month}";

export function monthQuery(scope: Scope, month: string) {
  return queryOf(
    "get",
    MONTH_PATH,
    { params: { path: { ...scopeOf(scope), month } } },
    // Expensive: reads every wallet.
    { staleTime: 60_000, meta: { showsOwnErrors: true } },
  );
}

export const monthText = text(7, /^[12]\d{3}-(0[1-9]|1[0-2])$/);

/** Defaults to the last completed month. */
export const readMonthSearch = searchOf({ month: monthText });

/** Months are UTC. */
export function monthAfter(month: string, steps: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + steps, 1)).toISOString().slice(0, 7);
}

export function thisMonth(): string {
  return new Date().toISOString().slice(0, 7);
}

export function lastMonth(): string {
  return monthAfter(thisMonth(), -1);
}

/** "October 2026". */
export function nameOfMonth(month: string): string {
  return new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );
}

/** Newest first. */
export function lastMonths(count: number): string[] {
  return Array.from({ length: count }, (_, index) => monthAfter(thisMonth(), -index));
}
