import { isTooLong } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { nextUtcMonth, utcMonth } from "../../primitives/utc-month.ts";
import type { Measure, UsageScope } from "../../store/cell/usage/chart.ts";
import type { MonthsProgress } from "../../store/cell/usage/months.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { type RankedCustomer, type RankedMonths, rankCustomers } from "../../store/cell/usage/rank.ts";
import { invalidField } from "../fields.ts";
import { DAY_MS } from "./range.ts";

/** Who used most, the largest first. */
export async function rankUsers(
  tx: Tx,
  scope: UsageScope,
  options: { readonly by: Measure; readonly limit: number },
): Promise<RankedCustomer[]> {
  const { months } = await readUsageProgress(tx);
  return rankCustomers(tx, scope, { ...options, months: monthsOf(scope, months) });
}

/**
 * An answer that ranks users takes as long as its range has sums of customers, one by metadata as long as everybody has rows in it,
 * and is cut off where that is too long. The same again would be, too, so nobody is told to try it.
 */
export async function refuseTooLong<T>(
  what: "sums of customers" | "rows",
  answer: () => Promise<T>,
): Promise<T> {
  const startMs = performance.now();
  try {
    return await answer();
  } catch (error) {
    if (!isTooLong(error) || performance.now() - startMs < LONG_MS) throw error;
    const message = `makes a range with more ${what} than could be read in time: choose a shorter one`;
    throw invalidField({ field: "from", code: "too_long", message });
  }
}

/** Whatever was cut off sooner had little time left, or was not long because of itself. */
const LONG_MS = 3_000;

/**
 * Those that lie in the range as a whole and have their sums; and the one that is being added to, unless the range ends before
 * what it holds. If there is none, an empty stretch at the range's end.
 */
function monthsOf({ from, to }: UsageScope, sums: MonthsProgress): RankedMonths {
  const first = utcMonth(from) === from ? from : nextUtcMonth(from);
  const present = utcMonth(sums.to);
  const belowTo = brandAs<Instant>(sums.below === 0 ? sums.to : sums.to + DAY_MS);
  if (first <= present && belowTo <= to)
    return { from: first, to: nextUtcMonth(present), rest: sums.to, below: sums.below, belowTo };
  const end = brandAs<Instant>(Math.min(utcMonth(to), present));
  return first < end
    ? { from: first, to: end, rest: end, below: 0, belowTo: end }
    : { from: to, to, rest: to, below: 0, belowTo: to };
}
