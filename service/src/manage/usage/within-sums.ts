import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { BUCKET_MS, readUsageExtent } from "../../store/cell/usage/extent.ts";
import { invalidField } from "../fields.ts";

/** 15-minute buckets per customer. */
const LOOK_UPS_MAX = 1_000_000;
const COUNTED = LOOK_UPS_MAX.toLocaleString("en");

export const ABOUT_LOOK_UPS =
  `For customers, the 15-minute buckets between the environment's first and last usage in the range, times the customers shown, may be at ` +
  `most ${COUNTED}.`;

/** Cuts a range to the buckets in which the environment has usage, so that "since 1970" costs no more than "since the first event". */
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
