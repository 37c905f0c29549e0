import type { Instant } from "../primitives/brand.ts";
import { hasAssignedPlan, leaveAssigned } from "./assignment.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { compareToMark, isTooFarAhead, markEvent } from "./event-mark.ts";
import { unschedulePlan } from "./next-plan.ts";
import type { Wallet } from "./wallet.ts";

type EndOutcome =
  | { kind: "ended" | "no_assignment" | "unchanged"; change: Change | null }
  | { kind: "as_of_out_of_range" };

/**
 * Ends the plan now and drops the pending change. Purchased and manually added credits are kept. If there is a default plan, it starts
 * immediately.
 */
export function endPlan(
  catalog: Catalog,
  wallet: Wallet,
  { asOf = null }: { readonly asOf?: Instant | null },
  clock: Instant,
): EndOutcome {
  const now = decisionTime(catalog, wallet, clock);
  if (isTooFarAhead(asOf, now)) return { kind: "as_of_out_of_range" };
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const order = compareToMark(draft.wallet, asOf, "closed");
  if (order < 0) return { kind: "unchanged", change: draft.finish(now) };
  // The event is a repeat: a plan assigned or scheduled after the first delivery is kept.
  const isKept = order === 0 && (hasAssignedPlan(draft.wallet) || draft.wallet.next !== null);
  if (isKept) return { kind: "unchanged", change: draft.finish(now) };
  const before = draft.wallet;
  unschedulePlan(catalog, draft);
  leaveAssigned(draft);
  const isEnded = draft.wallet !== before;
  if (isEnded || asOf !== null)
    draft.wallet = markEvent(draft.wallet, asOf, asOf === null ? "manual" : "closed");
  catchUp(catalog, draft, now);
  return { kind: isEnded ? "ended" : "no_assignment", change: draft.finish(now) };
}

/** Drops the pending change. The current plan does not change. */
export function dropNextPlan(
  catalog: Catalog,
  wallet: Wallet,
  clock: Instant,
): { kind: "changed" | "unchanged"; change: Change | null } {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  if (draft.wallet.next === null) return { kind: "unchanged", change: draft.finish(now) };
  unschedulePlan(catalog, draft);
  return { kind: "changed", change: draft.finish(now) };
}
