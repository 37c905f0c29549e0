import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { BUCKET_MS, readUsageExtent } from "../../store/cell/usage/extent.ts";
import { invalidField } from "../fields.ts";

/** Of a quarter of an hour of a customer: about a second's work. */
const LOOK_UPS_MAX = 1_000_000;
const COUNTED = LOOK_UPS_MAX.toLocaleString("en");

export const ABOUT_LOOK_UPS =
  "Of customers' usage the quarters of an hour are counted, from the first to the last in which the environment had any: a range with " +
  `more than ${COUNTED} of them, times the customers that are shown, is refused.`;

/**
 * A range of some customers, whose quarters of an hour are looked up, of days that are over a month at a time: only as far as the
 * environment has any sums, so that "since 1970" costs no more than "since the first event".
 */
export async function withinSums<T extends { readonly from: Instant; readonly to: Instant }>(
  tx: Tx,
  environmentId: EnvironmentId,
  range: T,
  customers: number,
): Promise<T> {
  const extent = await readUsageExtent(tx, environmentId);
  const from = brandAs<Instant>(Math.max(range.from, extent?.from ?? range.from));
  const to = brandAs<Instant>(Math.max(from, Math.min(range.to, extent?.to ?? from)));
  if (((to - from) / BUCKET_MS) * customers > LOOK_UPS_MAX) {
    const message =
      `makes a range in which more than ${COUNTED} quarters of an hour of customers would be looked up: choose a shorter one, or ` +
      "fewer customers";
    throw invalidField({ field: "from", code: "too_long", message });
  }
  return { ...range, from, to };
}
