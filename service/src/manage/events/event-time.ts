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
 * The requested times within the history window, and when such events can have been recorded: an event may be up to 35 days old
 * or 5 minutes ahead. This limits the partitions to read.
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
    // The accepted range includes both bounds, and `recordedTo` is exclusive.
    recordedTo: within(to + TIMESTAMP_PAST_MAX_MS + 1),
  };
}

/** Clamps to 1970 and the largest supported time. */
function within(at: number): Instant {
  return brandAs<Instant>(Math.min(Math.max(at, 0), TIME_MAX));
}
