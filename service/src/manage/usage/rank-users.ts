import { isTooLong } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { type Measure, sumCustomers, type UsageScope, type Used } from "../../store/cell/usage/chart.ts";
import { readUsageProgress } from "../../store/cell/usage/progress.ts";
import { rankCustomers } from "../../store/cell/usage/rank.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../words/brand.ts";
import { nextUtcMonth, utcMonth } from "../../words/utc-month.ts";
import { invalidField } from "../fields.ts";
import { clipToSums } from "./within-sums.ts";

export type RankedCustomer = Used & { readonly customerNumber: CustomerNumber };

type RankOptions = { readonly by: Measure; readonly limit: number };

/** Who used most, the largest first. */
export async function rankUsers(tx: Tx, scope: UsageScope, options: RankOptions): Promise<RankedCustomer[]> {
  const numbers = await rankInTime(tx, scope, options);
  const used = await sumCustomers(tx, await clipToSums(tx, scope.environmentId, scope), numbers);
  return numbers.map((customerNumber) => ({ customerNumber, ...(used.get(customerNumber) ?? NOTHING) }));
}

const NOTHING: Used = { count: 0, quantity: 0, credits: 0 };

/** What is too much to read in a statement's time is so the next time as well: so nobody is told to come back for it. */
async function rankInTime(tx: Tx, scope: UsageScope, options: RankOptions): Promise<CustomerNumber[]> {
  const { months } = await readUsageProgress(tx);
  try {
    return await rankCustomers(tx, scope, { ...options, months: wholeMonths(scope, months.to) });
  } catch (error) {
    if (!isTooLong(error)) throw error;
    const message =
      "makes a range with more sums of customers than can be ranked in time: choose a shorter one";
    throw invalidField({ field: "from", code: "too_long", message });
  }
}

/** Those that lie in the range as a whole and have their sums; if none does, an empty stretch at the range's end. */
function wholeMonths({ from, to }: UsageScope, monthsTo: Instant): { from: Instant; to: Instant } {
  const first = utcMonth(from) === from ? from : nextUtcMonth(from);
  const end = brandAs<Instant>(Math.min(utcMonth(to), utcMonth(monthsTo)));
  return first < end ? { from: first, to: end } : { from: to, to };
}
