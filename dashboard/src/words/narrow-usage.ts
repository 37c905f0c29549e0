import { startOf } from "./calendar.ts";
import type { Clock } from "./times.ts";
import type { UsageAsked } from "./usage-search.ts";

/** Only this hour, day or month, in finer points. */
export function narrowTo(at: string, { bucket }: UsageAsked, clock: Clock) {
  const to = startOf(bucket, Date.parse(at), clock, 1);
  return { from: at, to: new Date(to).toISOString(), range: undefined, bucket: undefined };
}
