import type { PeriodKind } from "../../src/entitlement/period.ts";

const DAY_MS = 86_400_000;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** The end of a period, and the expiry of its credits. Null if it never ends. */
export type PeriodEnds = { start: number; end: number | null; expiresAt: number | null };

/** The period that contains `at`, found by stepping from the anchor one period at a time. */
export function periodHolding(
  period: PeriodKind,
  { anchor, at, rollover = 0 }: { anchor: number; at: number; rollover?: number },
): PeriodEnds {
  if (period === "once") return { start: anchor, end: null, expiresAt: null };
  let steps = 0;
  while (step(period, anchor, steps) > at) steps -= 1;
  while (step(period, anchor, steps + 1) <= at) steps += 1;
  return {
    start: step(period, anchor, steps),
    end: step(period, anchor, steps + 1),
    expiresAt: step(period, anchor, steps + 1 + rollover),
  };
}

/** Moves the anchor by this many periods. */
function step(period: Exclude<PeriodKind, "once">, anchor: number, steps: number): number {
  switch (period) {
    case "day":
      return anchor + steps * DAY_MS;
    case "week":
      return anchor + steps * 7 * DAY_MS;
    case "month":
      return addMonths(anchor, steps);
    case "year":
      return addMonths(anchor, steps * 12);
  }
}

function addMonths(anchor: number, count: number): number {
  const from = new Date(anchor);
  const months = from.getUTCFullYear() * 12 + from.getUTCMonth() + count;
  const year = Math.floor(months / 12);
  const month = months - year * 12;
  const day = Math.min(from.getUTCDate(), daysInMonth(year, month));
  return Date.UTC(year, month, day) + (anchor % DAY_MS);
}

function daysInMonth(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 1 && isLeapYear ? 29 : (DAYS_IN_MONTH[month] ?? 0);
}
