import { brandAs, type Instant } from "../primitives/brand.ts";
import { isAhead } from "./period.ts";
import type { PlanEvent, Wallet } from "./wallet.ts";

// Billing events arrive late, repeatedly and in any order. A wallet stores the time and kind of the latest applied event. Older events
// change nothing. Billing systems use whole seconds, so several events can have the same time. Rules for events with equal times, and for
// calls without a time:
// - A cancellation wins over a renewal.
// - The last call sets the pending change.
// - After an event ends the plan immediately, no other event with that time applies.
// - A call without a time counts as later than all events received before it, so repeats of those events do not undo it.

const RANK = {
  assign: 0,
  cut: 1,
  schedule: 1,
  manual: 2,
  closed: 3,
} as const satisfies Record<PlanEvent, number>;

/** Positive if the event is later than the latest applied event, 0 if it may be the same event. A call without a time is always later. */
export function compareToMark(
  { planAsOf, planEvent }: Wallet,
  asOf: Instant | null,
  event: PlanEvent,
): number {
  if (asOf === null || planAsOf === null) return 1;
  return asOf === planAsOf ? RANK[event] - RANK[planEvent] : asOf - planAsOf;
}

/** Records an event that is not older than the latest applied event. A call without a time is recorded only after an earlier event. */
export function markEvent(wallet: Wallet, asOf: Instant | null, event: PlanEvent): Wallet {
  const { planAsOf, planEvent } = wallet;
  if (asOf !== null && asOf !== planAsOf) return { ...wallet, planAsOf: asOf, planEvent: event };
  const isKept = planAsOf === null || event === planEvent || RANK[event] < RANK[planEvent];
  return isKept ? wallet : { ...wallet, planEvent: event };
}

/** The same limit as for usage events. An event dated far in the future would make all events before that date look outdated. */
const AS_OF_AHEAD_MS_MAX = 5 * 60_000;

export function isTooFarAhead(asOf: Instant | null, now: Instant): boolean {
  return asOf !== null && isAhead(asOf, brandAs<Instant>(now + AS_OF_AHEAD_MS_MAX));
}
