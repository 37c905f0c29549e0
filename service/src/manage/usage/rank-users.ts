import { isTooLong } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import type { Measure, UsageScope } from "../../store/cell/usage/chart.ts";
import { readUsageExtent } from "../../store/cell/usage/extent.ts";
import { type RankedCustomer, rankCustomers } from "../../store/cell/usage/rank.ts";
import { invalidField } from "../fields.ts";
import { DAY_MS } from "./range.ts";

/** Lists the customers with the most usage, highest first. */
export async function rankUsers(
  tx: Tx,
  scope: UsageScope,
  options: { readonly by: Measure; readonly limit: number },
): Promise<RankedCustomer[]> {
  const extent = await readUsageExtent(tx, scope.environmentId);
  if (extent === null) return [];
  // Skips days without usage at both ends of the range. Extends the first and last day with usage to whole days, because whole days
  // are read from daily roll-ups.
  const first = Math.floor(extent.from / DAY_MS) * DAY_MS;
  const last = Math.ceil(extent.to / DAY_MS) * DAY_MS;
  const from = brandAs<Instant>(scope.from <= extent.from ? first : scope.from);
  const to = brandAs<Instant>(scope.to >= extent.to ? last : scope.to);
  return from < to ? rankCustomers(tx, { ...scope, from, to }, options) : [];
}

/** Turns a timeout caused by a long range into a 400 error, because a retry would also time out. */
export async function refuseTooLong<T>(
  what: "customer totals" | "rows",
  answer: () => Promise<T>,
): Promise<T> {
  const startMs = performance.now();
  try {
    return await answer();
  } catch (error) {
    if (!isTooLong(error) || performance.now() - startMs < LONG_MS) throw error;
    const message = `makes the range too long to read its ${what} in time: choose a shorter range`;
    throw invalidField({ field: "from", code: "too_long", message });
  }
}

/** If a query times out sooner than this, the length of the range is not the cause. */
const LONG_MS = 3_000;
