import { TIMESTAMP_FUTURE_MAX_MS, TIMESTAMP_PAST_MAX_MS } from "../../entitlement/usage-event.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";

export type EventTimes = {
  readonly from: Instant;
  readonly to: Instant;
  readonly recordedFrom: Instant;
  readonly recordedTo: Instant;
};

/**
 * Limits the requested times to the history window. Also returns the range of possible recording times, so that fewer
 * partitions are read. An event's timestamp may be up to 35 days in the past or 5 minutes in the future.
 */
export function eventTimes(wanted: {
  readonly from: Instant | null;
  readonly to: Instant | null;
  readonly historyStart: Instant | null;
}): EventTimes {
  const from = within(Math.max(wanted.from ?? 0, wanted.historyStart ?? 0));
  const to = within(wanted.to ?? TIME_MAX);
  return {
    from,
    to,
    recordedFrom: within(from - TIMESTAMP_FUTURE_MAX_MS),
    // The accepted range includes both bounds, but `recordedTo` is exclusive.
    recordedTo: within(to + TIMESTAMP_PAST_MAX_MS + 1),
  };
}

/** Clamps a time to the range from 1970 to the largest supported time. */
function within(at: number): Instant {
  return brandAs<Instant>(Math.min(Math.max(at, 0), TIME_MAX));
}
