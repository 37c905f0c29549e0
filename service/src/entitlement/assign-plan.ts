import type { Instant, PlanId } from "../words/brand.ts";
import { leavePlan, startPlan } from "./assignment.ts";
import { type Catalog, getPlan } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { Assignment, Wallet } from "./wallet.ts";

export type AssignmentRequest = {
  readonly plan: PlanId;
  /** Where periods are counted from; null: from now. */
  readonly anchor: Instant | null;
  /** Null: no end. Undefined: not said, so that an end which is already set stays. */
  readonly endsAt: Instant | null | undefined;
};

export type AssignmentOutcome =
  | { kind: "changed"; change: Change }
  /** The plan was active already; the change is at most what was due anyway. */
  | { kind: "unchanged"; change: Change | null }
  | { kind: "ends_in_the_past" }
  /** It is kept and renewed where it is active, and given to nobody else. */
  | { kind: "plan_archived" };

/**
 * Spec 3: assigning the plan that is active already is safe to repeat. A later end extends it, so that a billing
 * notification can renew; an earlier one, or none said, changes nothing.
 */
export function assignPlan(
  catalog: Catalog,
  wallet: Wallet,
  request: AssignmentRequest,
  clock: Instant,
): AssignmentOutcome {
  const now = decisionTime(catalog, wallet, clock);
  if (typeof request.endsAt === "number" && request.endsAt <= now) return { kind: "ends_in_the_past" };
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  const { assignment } = draft.wallet;
  if (assignment !== null && assignment.plan === request.plan) {
    const next = keep(assignment, request);
    if (next === null) return { kind: "unchanged", change: draft.finish(now) };
    draft.wallet = { ...draft.wallet, assignment: next };
    draft.noteAssignment("extended", next);
  } else {
    if (getPlan(catalog, request.plan).archivedAt !== null) return { kind: "plan_archived" };
    leavePlan(draft);
    const { plan, anchor, endsAt = null } = request;
    startPlan(catalog, draft, { plan, anchor, endsAt, isDefault: false });
  }
  catchUp(catalog, draft, now);
  const change = draft.finish(now);
  return change === null ? { kind: "unchanged", change } : { kind: "changed", change };
}

/** Null when the assignment says all of the request already. */
function keep(assignment: Assignment, { endsAt }: AssignmentRequest): Assignment | null {
  // The default plan, now assigned by somebody, stops being a mere default.
  if (assignment.isDefault) return { ...assignment, isDefault: false, endsAt: endsAt ?? null };
  if (endsAt === undefined || assignment.endsAt === null) return null;
  if (endsAt !== null && endsAt <= assignment.endsAt) return null;
  return { ...assignment, endsAt };
}

export type EndOutcome = { kind: "ended" | "no_assignment"; change: Change | null };

/** Ends the plan now. Purchased credits stay; the default plan, if there is one, takes over. */
export function endPlan(catalog: Catalog, wallet: Wallet, clock: Instant): EndOutcome {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  const { assignment } = draft.wallet;
  if (assignment === null || assignment.isDefault)
    return { kind: "no_assignment", change: draft.finish(now) };
  leavePlan(draft);
  catchUp(catalog, draft, now);
  return { kind: "ended", change: draft.finish(now) };
}
