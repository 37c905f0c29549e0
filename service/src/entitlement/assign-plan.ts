import { brandAs, type Instant, type PlanId } from "../primitives/brand.ts";
import { findPaused, isAhead, leavePlan, startPlan } from "./assignment.ts";
import { type Catalog, getPlan } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { Assignment, Wallet } from "./wallet.ts";

export type AssignmentRequest = {
  readonly plan: PlanId;
  /** The moment that periods are counted from. Null if not given: a plan that starts now counts from now. */
  readonly anchor: Instant | null;
  /** Null for no end. Undefined keeps the current end. */
  readonly endsAt: Instant | null | undefined;
  /** Allows an end earlier than the current one. */
  readonly shorten?: boolean;
  /** Time of the billing event behind this call. Null if not given. */
  readonly asOf?: Instant | null;
};

export type AssignmentOutcome =
  | { kind: "changed"; change: Change }
  /** Nothing new, or older than an event already applied. The change holds at most due changes and a later `asOf`. */
  | { kind: "unchanged"; change: Change | null }
  | { kind: "ends_in_the_past" | "as_of_out_of_range" }
  /** An archived plan renews for its customers, but cannot be assigned. */
  | { kind: "plan_archived" }
  /** The last two have the current value. */
  | { kind: "would_shorten"; endsAt: Instant | null }
  | { kind: "anchor_fixed"; anchor: Instant };

/** The same limit as for usage events. An event dated far in the future would make every real event until then look old. */
const AS_OF_AHEAD_MS_MAX = 5 * 60_000;

/**
 * Assigning the active plan again is safe. Every field is applied or rejected, never ignored: a later end extends
 * the plan, an earlier one needs `shorten`, and the anchor of a running period cannot change.
 */
export function assignPlan(
  catalog: Catalog,
  wallet: Wallet,
  request: AssignmentRequest,
  clock: Instant,
): AssignmentOutcome {
  const { plan, anchor, endsAt, shorten = false, asOf = null } = request;
  const now = decisionTime(catalog, wallet, clock);
  if (isTooFarAhead(asOf, now)) return { kind: "as_of_out_of_range" };
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  // Checked first: a late event may name an end that has passed in the meantime.
  if (isOlder(asOf, wallet)) return { kind: "unchanged", change: draft.finish(now) };

  const { assignment } = draft.wallet;
  const active = assignment?.plan === plan ? assignment : null;
  if (isCutAt(asOf, wallet) && givesMore(active, endsAt))
    return { kind: "unchanged", change: draft.finish(now) };
  if (typeof endsAt === "number" && endsAt <= now) return { kind: "ends_in_the_past" };
  if (active === null && getPlan(catalog, plan).archivedAt !== null) return { kind: "plan_archived" };
  const running = active ?? findPaused(draft.wallet, plan, now)?.assignment;
  if (running !== undefined && anchor !== null && anchor !== running.anchor)
    return { kind: "anchor_fixed", anchor: running.anchor };
  if (active !== null && endsSooner(active, endsAt) && !shorten)
    return { kind: "would_shorten", endsAt: active.endsAt };

  draft.noteAsOf(asOf, active !== null && endsSooner(active, endsAt));
  if (active === null) {
    leavePlan(draft);
    startPlan(catalog, draft, { plan, anchor, endsAt: endsAt ?? null, isDefault: false });
  } else {
    const next = { ...active, endsAt: endsAt === undefined ? active.endsAt : endsAt, isDefault: false };
    // Assigning the default plan explicitly makes it an assigned plan.
    if (next.endsAt === active.endsAt && !active.isDefault)
      return { kind: "unchanged", change: draft.finish(now) };
    draft.wallet = { ...draft.wallet, assignment: next };
    draft.noteAssignment(endsSooner(active, endsAt) ? "shortened" : "extended", next);
  }
  catchUp(catalog, draft, now);
  const change = draft.finish(now);
  return change === null ? { kind: "unchanged", change } : { kind: "changed", change };
}

/** The default plan can always be given an end, because it was never assigned to the customer. */
function endsSooner(active: Assignment, endsAt: Instant | null | undefined): boolean {
  if (active.isDefault || endsAt === undefined || endsAt === null) return false;
  return active.endsAt === null || endsAt < active.endsAt;
}

/** Whether the request starts the plan or moves its end to a later time. */
function givesMore(active: Assignment | null, endsAt: Instant | null | undefined): boolean {
  if (active === null || active.isDefault) return true;
  if (endsAt === undefined || active.endsAt === null) return false;
  return endsAt === null || endsAt > active.endsAt;
}

type EndOutcome =
  | { kind: "ended" | "no_assignment" | "unchanged"; change: Change | null }
  | { kind: "as_of_out_of_range" };

/** Ends the plan now. Purchased credits stay; the default plan, if there is one, takes over. */
export function endPlan(
  catalog: Catalog,
  wallet: Wallet,
  { asOf = null }: Pick<AssignmentRequest, "asOf">,
  clock: Instant,
): EndOutcome {
  const now = decisionTime(catalog, wallet, clock);
  if (isTooFarAhead(asOf, now)) return { kind: "as_of_out_of_range" };
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  if (isOlder(asOf, wallet)) return { kind: "unchanged", change: draft.finish(now) };
  draft.noteAsOf(asOf, true);
  const { assignment } = draft.wallet;
  if (assignment === null || assignment.isDefault)
    return { kind: "no_assignment", change: draft.finish(now) };
  leavePlan(draft);
  catchUp(catalog, draft, now);
  return { kind: "ended", change: draft.finish(now) };
}

function isTooFarAhead(asOf: Instant | null, now: Instant): boolean {
  return asOf !== null && isAhead(asOf, brandAs<Instant>(now + AS_OF_AHEAD_MS_MAX));
}

function isOlder(asOf: Instant | null, { planAsOf }: Wallet): boolean {
  return asOf !== null && planAsOf !== null && asOf < planAsOf;
}

/**
 * Billing systems use whole seconds, so a renewal and a cancellation may have the same time, and each may be delivered
 * again. The cancellation wins in either order.
 */
function isCutAt(asOf: Instant | null, { planAsOf, isPlanCut }: Wallet): boolean {
  return asOf !== null && asOf === planAsOf && isPlanCut;
}
