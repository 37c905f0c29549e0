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
 * Events of these times, as far as the history window reaches, and when they can have been recorded: one that says it is 35
 * days old is taken, and so is one that is 5 minutes ahead. That is what bounds the parts of the table to look into.
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
    // Both bounds are part of what is taken, and this end is not part of the range.
    recordedTo: within(to + TIMESTAMP_PAST_MAX_MS + 1),
  };
}

/** Nothing was recorded before 1970, and no time is written with five digits of a year. */
function within(at: number): Instant {
  return brandAs<Instant>(Math.min(Math.max(at, 0), TIME_MAX));
}
