import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { BUCKET_MS, readUsageExtent } from "../../store/cell/usage/extent.ts";
import { invalidField } from "../fields.ts";

/** Maximum for the number of 15-minute buckets multiplied by the number of customers. */
const LOOK_UPS_MAX = 1_000_000;
const COUNTED = LOOK_UPS_MAX.toLocaleString("en");

export const ABOUT_LOOK_UPS =
  "When usage is read per customer, the number of 15-minute buckets multiplied by the number of customers must not exceed " +
  `${COUNTED}. Only the part of the range between the environment's first and last usage is considered.`;

/**
 * Limits a range to the time between the environment's first and last usage, so that a range from 1970 costs no more than a range
 * from the first event.
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
      "makes the range too long for this many customers: choose a shorter range or fewer customers";
    throw invalidField({ field: "from", code: "too_long", message });
  }
  return { ...range, from, to };
}
