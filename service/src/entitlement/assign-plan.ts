import type { Instant, PlanId } from "../primitives/brand.ts";
import {
  endsSooner,
  findPaused,
  hasAssignedPlan,
  laterOf,
  leaveAssigned,
  switchPlan,
  versionAt,
} from "./assignment.ts";
import { type Catalog, getPlan } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { compareToMark, isTooFarAhead, markEvent } from "./event-mark.ts";
import { schedulePlan, unschedulePlan } from "./next-plan.ts";
import { earlierOf, isAhead } from "./period.ts";
import { findPeriodEnd, isBoundary } from "./plan-version.ts";
import type { Assignment, NextPlan, PlanEvent, Wallet } from "./wallet.ts";

/**
 * `period_end` is the end of the active plan's current period, or the end of the plan if that is sooner. If allowances renew at different
 * intervals, the longest period is used. Billing events send a time instead.
 */
export type PlanTime = Instant | "period_end";

export type AssignmentRequest = {
  readonly plan: PlanId;
  /** Periods are counted from this time. If null, `anchorOf` chooses the anchor. */
  readonly anchor: Instant | null;
  /** If null, the plan starts now. If in the future, the plan becomes the pending change. */
  readonly startsAt?: PlanTime | null;
  /** Null for no end. Undefined keeps the current end. */
  readonly endsAt: PlanTime | null | undefined;
  /** Allows an end before the plan's current end. */
  readonly shorten?: boolean;
  /** Time of the billing event that caused this call. Null if not given. */
  readonly asOf?: Instant | null;
};

export type AssignmentOutcome =
  | { kind: "changed"; change: Change }
  /** The call matches the current state, or is older than an applied event. The change contains only due changes and a new `asOf`. */
  | { kind: "unchanged"; change: Change | null }
  | { kind: "ends_in_the_past" | "as_of_out_of_range" | "no_running_period" }
  /** An archived plan renews for its customers, but cannot be assigned. */
  | { kind: "plan_archived" }
  /** `endsAt` and `anchor` below are the current values. */
  | { kind: "would_shorten"; endsAt: Instant | null }
  | { kind: "anchor_fixed"; anchor: Instant };

/**
 * Assigns a plan now or later. Repeating a call is safe. Every field is applied or rejected, never ignored:
 * - A later end extends the plan. An earlier end requires `shorten`.
 * - The anchor of the current period cannot change.
 * - A call that changes the current plan drops the pending change.
 * - A billing event that is older than the latest applied event changes nothing (event-mark.ts).
 */
export function assignPlan(
  catalog: Catalog,
  wallet: Wallet,
  request: AssignmentRequest,
  clock: Instant,
): AssignmentOutcome {
  const { asOf = null } = request;
  const now = decisionTime(catalog, wallet, clock);
  if (isTooFarAhead(asOf, now)) return { kind: "as_of_out_of_range" };
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const start = resolveStart(catalog, draft.wallet, request, now);
  // Checked first, because a late or repeated event may refer to an end or a period that has passed.
  if (isOld(draft.wallet, request, start)) return { kind: "unchanged", change: draft.finish(now) };
  if (start === null) return { kind: "no_running_period" };
  const { startsAt, endsAt, isScheduled } = start;
  const earliestEnd = asOf === null ? laterOf(startsAt, now) : startsAt;
  if (endsAt !== null && endsAt <= earliestEnd && (asOf === null || isScheduled))
    return { kind: "ends_in_the_past" };
  return isScheduled && startsAt > now
    ? assignLater(catalog, draft, request, start)
    : assignNow(catalog, draft, request, start);
}

/** The start of a plan, with all times in the call resolved. */
type Start = {
  readonly startsAt: Instant;
  readonly endsAt: Instant | null;
  /** The anchor from the call. If the call has none, the result of `anchorOf`. */
  readonly anchor: Instant;
  /** Whether the plan starts after the time of the call. For a late event, that start may already have passed. */
  readonly isScheduled: boolean;
  readonly event: PlanEvent;
};

/** Returns null if the call uses `period_end` but there is no current period, or if `endsAt` is `period_end` but the plan is not active. */
function resolveStart(
  catalog: Catalog,
  wallet: Wallet,
  request: AssignmentRequest,
  now: Instant,
): Start | null {
  const { plan, asOf = null } = request;
  const { assignment } = wallet;
  const active = findActive(wallet, plan);
  const calledAt = asOf === null ? now : earlierOf(asOf, now);
  const periodEnd = assignment === null ? null : findPeriodEnd(catalog, assignment, now);
  const startsAt = request.startsAt === "period_end" ? periodEnd : (request.startsAt ?? calledAt);
  if (startsAt === null || (request.endsAt === "period_end" && (active === null || periodEnd === null)))
    return null;
  // If the customer will still have the plan at the requested start, a call without `asOf` edits that plan instead of scheduling a change.
  const isScheduled = startsAt > calledAt && (asOf !== null || !runsAt(active, startsAt));
  const end = request.endsAt === "period_end" ? periodEnd : request.endsAt;
  // A scheduled plan never inherits the end of the active plan.
  const endsAt = end !== undefined ? end : isScheduled ? null : (active?.endsAt ?? null);
  const isCut = active !== null && endsSooner(active, endsAt);
  return {
    startsAt,
    endsAt,
    anchor: request.anchor ?? anchorOf(catalog, request, assignment, { startsAt, now }),
    isScheduled,
    event: isScheduled ? "schedule" : isCut ? "cut" : "assign",
  };
}

/**
 * Chooses the anchor for a call that has none: the requested start, or the time of arrival. A renewal's `asOf` can be before the period
 * that it pays for. If `asOf` were the anchor, the plan would grant a second allowance shortly before its new end. A change at `period_end`
 * keeps the current anchor if the periods align, so that an anchor on the 31st does not move to the 28th.
 */
function anchorOf(
  catalog: Catalog,
  { plan, startsAt: asked }: AssignmentRequest,
  assignment: Assignment | null,
  { startsAt, now }: { readonly startsAt: Instant; readonly now: Instant },
): Instant {
  if (asked == null) return now;
  if (asked !== "period_end" || assignment === null) return startsAt;
  const isAligned = isBoundary(versionAt(getPlan(catalog, plan), now), assignment.anchor, startsAt);
  return isAligned ? assignment.anchor : startsAt;
}

/** Whether to ignore the call: a newer event was applied, or the same event was applied and its plan has since started or ended. */
function isOld(
  wallet: Wallet,
  { asOf = null, startsAt, endsAt }: AssignmentRequest,
  start: Start | null,
): boolean {
  const order = compareToMark(wallet, asOf, start?.event ?? "assign");
  if (order !== 0) return order < 0;
  // This is a repeat of the event, or another event with the same time.
  const hasStarted = wallet.planEvent === "schedule" && wallet.next === null;
  const hasEnded = endsAt === undefined && startsAt == null && !hasAssignedPlan(wallet);
  return hasStarted || hasEnded;
}

function assignLater(
  catalog: Catalog,
  draft: Draft,
  request: AssignmentRequest,
  { startsAt, endsAt, anchor, event }: Start,
): AssignmentOutcome {
  const { plan, asOf = null, shorten = false } = request;
  const next = { plan, startsAt, endsAt, anchor, shorten };
  const isRepeated = isPending(draft.wallet, next);
  if (!isRepeated) {
    const refusal = refuseStart(catalog, draft.wallet, request, { at: startsAt, endsAt, isLater: true });
    if (refusal !== null) return refusal;
  }
  const isMarked = !isRepeated || asOf !== null;
  if (isMarked) draft.wallet = markEvent(draft.wallet, asOf, asOf === null ? "closed" : event);
  if (!isRepeated) schedulePlan(catalog, draft, next);
  return finish(draft, !isRepeated);
}

function assignNow(
  catalog: Catalog,
  draft: Draft,
  request: AssignmentRequest,
  { startsAt, endsAt, anchor, event }: Start,
): AssignmentOutcome {
  const { plan, asOf = null } = request;
  const { next } = draft.wallet;
  const now = draft.at;
  const active = findActive(draft.wallet, plan);
  const isOver = !isAhead(endsAt, now);
  const refusal = refuseStart(catalog, draft.wallet, request, { at: now, endsAt, isLater: false });
  if (refusal !== null) return refusal;
  const isKept = active !== null && !active.isDefault && endsAt === active.endsAt;
  // Scheduling the plan that the customer already has replaces the pending change.
  const isReplacing = startsAt > now && next !== null;
  if (isKept && !isReplacing && asOf === null) return finish(draft, false);
  // An event whose plan has already ended must not remove another plan that a person assigned.
  const isAboutOther = active === null || active.isDefault;
  const isByPerson = draft.wallet.planAsOf === null || draft.wallet.planEvent === "manual";
  if (isOver && isAboutOther && isByPerson) {
    draft.wallet = markEvent(draft.wallet, asOf, "manual");
    return finish(draft, false);
  }
  draft.wallet = markEvent(draft.wallet, asOf, asOf === null ? "manual" : event);
  const before = draft.wallet;
  unschedulePlan(catalog, draft);
  if (isOver && isAboutOther) leaveAssigned(draft);
  else switchPlan(catalog, draft, { plan, anchor, endsAt });
  const isChanged = draft.wallet !== before;
  catchUp(catalog, draft, now);
  return finish(draft, isChanged);
}

/** The reason why the plan cannot start at `at` or end at `endsAt`. Null if both are allowed. */
function refuseStart(
  catalog: Catalog,
  wallet: Wallet,
  { plan, anchor, shorten = false }: AssignmentRequest,
  {
    at,
    endsAt,
    isLater,
  }: { readonly at: Instant; readonly endsAt: Instant | null; readonly isLater: boolean },
): AssignmentOutcome | null {
  const active = findActive(wallet, plan);
  // A plan that has already ended does not start, so it may be archived and have any anchor.
  const isOver = !isAhead(endsAt, at);
  if (!isOver && (active === null || isLater) && getPlan(catalog, plan).archivedAt !== null)
    return { kind: "plan_archived" };
  const running = isOver ? undefined : findRunning(wallet, plan, at);
  if (running !== undefined && anchor !== null && anchor !== running.anchor)
    return { kind: "anchor_fixed", anchor: running.anchor };
  const isCut = active !== null && endsSooner(active, endsAt) && isAhead(active.endsAt, at);
  if (isCut && !shorten) return { kind: "would_shorten", endsAt: active.endsAt };
  return null;
}

function finish(draft: Draft, isChanged: boolean): AssignmentOutcome {
  const change = draft.finish(draft.at);
  return change === null || !isChanged ? { kind: "unchanged", change } : { kind: "changed", change };
}

function findActive({ assignment }: Wallet, plan: PlanId): Assignment | null {
  return assignment?.plan === plan ? assignment : null;
}

function runsAt(active: Assignment | null, at: Instant): boolean {
  return active !== null && !active.isDefault && isAhead(active.endsAt, at);
}

/** The active or paused assignment of the plan, if it has not ended at `at`. */
function findRunning(wallet: Wallet, plan: PlanId, at: Instant): Assignment | undefined {
  const active = findActive(wallet, plan);
  if (active !== null && isAhead(active.endsAt, at)) return active;
  return findPaused(wallet, plan, at)?.assignment;
}

function isPending({ next: known }: Wallet, next: NextPlan): boolean {
  if (known === null || known.plan !== next.plan || known.shorten !== next.shorten) return false;
  return known.startsAt === next.startsAt && known.endsAt === next.endsAt && known.anchor === next.anchor;
}
