import { brandAs, type Instant, type PlanId } from "../primitives/brand.ts";
import { burnOrder } from "./burn-order.ts";
import { type Catalog, getPlan, latestVersion, type Plan, type PlanVersion } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import { isAhead } from "./period.ts";
import { findMissedVersion, switchVersion } from "./plan-version.ts";
import type { Assignment, PausedPlan, Wallet } from "./wallet.ts";

export type Start = {
  readonly plan: PlanId;
  readonly anchor: Instant | null;
  readonly endsAt: Instant | null;
  readonly isDefault: boolean;
};

/** Assigns a plan. If the plan is already active, only its end changes. */
export function switchPlan(catalog: Catalog, draft: Draft, start: Omit<Start, "isDefault">): void {
  const { assignment: active } = draft.wallet;
  if (active?.plan !== start.plan) {
    leavePlan(draft);
    startPlan(catalog, draft, { ...start, isDefault: false });
    return;
  }
  const { endsAt } = start;
  // Assigning the default plan explicitly makes it an assigned plan.
  if (endsAt === active.endsAt && !active.isDefault) return;
  const assignment = { ...active, endsAt, isDefault: false };
  draft.wallet = { ...draft.wallet, assignment };
  draft.noteAssignment(endsSooner(active, endsAt) ? "shortened" : "extended", assignment);
}

/**
 * Whether `endsAt` is before the plan's current end. False for the default plan, because any end is allowed for a plan that was never
 * assigned.
 */
export function endsSooner(active: Assignment, endsAt: Instant | null): boolean {
  if (active.isDefault || endsAt === null) return false;
  return active.endsAt === null || endsAt < active.endsAt;
}

/** Starts a plan, or resumes it if the customer left it and one of its periods has not ended. */
export function startPlan(catalog: Catalog, draft: Draft, start: Start): void {
  const earlier = findPaused(draft.wallet, start.plan, draft.at);
  const paused = draft.wallet.paused.filter(
    (left) => left.assignment.plan !== start.plan && isKept(left, draft.at),
  );
  draft.wallet = { ...draft.wallet, paused };
  if (earlier === undefined) begin(catalog, draft, start);
  else resume(catalog, draft, earlier, start);
}

/** A paused plan that `startPlan` would resume. */
export function findPaused({ paused }: Wallet, plan: PlanId, at: Instant): PausedPlan | undefined {
  return paused.find((left) => left.assignment.plan === plan && isAlive(left, at));
}

/** Ends the allowances, keeps purchased and manually added credits, and remembers the plan so that it can resume. */
export function leavePlan(draft: Draft): void {
  const { assignment } = draft.wallet;
  if (assignment === null) return;
  const grants = draft.wallet.grants.filter((grant) => grant.kind === "allowance");
  for (const { number, pool, remaining } of grants) {
    if (remaining > 0) draft.move({ kind: "expire", pool, parts: [{ grant: number, amount: -remaining }] });
  }
  const left: PausedPlan = { assignment, leftAt: draft.at, grants };
  draft.wallet = {
    ...draft.wallet,
    assignment: null,
    grants: draft.wallet.grants.filter((grant) => grant.kind !== "allowance"),
    paused: [...draft.wallet.paused, left].filter((plan) => isKept(plan, draft.at)),
  };
  draft.noteAssignment("ended", assignment);
}

/** Leaves an assigned plan. The default plan is kept, because it would start again immediately. */
export function leaveAssigned(draft: Draft): void {
  if (hasAssignedPlan(draft.wallet)) leavePlan(draft);
}

export function hasAssignedPlan({ assignment }: Wallet): boolean {
  return assignment?.isDefault === false;
}

function begin(catalog: Catalog, draft: Draft, start: Start): void {
  const number = draft.wallet.assignmentCount + 1;
  const assignment: Assignment = {
    number,
    plan: start.plan,
    version: versionAt(getPlan(catalog, start.plan), draft.at).id,
    anchor: start.anchor ?? draft.at,
    endsAt: start.endsAt,
    isDefault: start.isDefault,
    allowances: [],
    counters: [],
  };
  draft.wallet = { ...draft.wallet, assignment, assignmentCount: number };
  draft.noteAssignment("started", assignment);
}

/** Resumes a paused plan. Its period continues with the remaining allowance, so leaving and returning never creates credits. */
function resume(catalog: Catalog, draft: Draft, paused: PausedPlan, start: Start): void {
  const assignment = { ...paused.assignment, endsAt: start.endsAt, isDefault: start.isDefault };
  const grants = paused.grants.filter((grant) => isAhead(grant.expiresAt, draft.at));
  const empty = grants.map((grant) => ({ ...grant, remaining: 0 }));
  draft.wallet = {
    ...draft.wallet,
    assignment,
    grants: [...draft.wallet.grants, ...empty].sort(burnOrder),
  };
  draft.noteAssignment("resumed", assignment);
  for (const { number, pool, remaining } of grants) {
    if (remaining > 0) draft.move({ kind: "grant", pool, parts: [{ grant: number, amount: remaining }] });
  }
  const missed = findMissedVersion(catalog, assignment, paused.leftAt, draft.at);
  if (missed !== null) switchVersion(draft, missed);
}

/** Whether a plan that the customer has left still has credits, an allowance whose period has not ended, or a limit that is partly used. */
function isAlive(left: PausedPlan, at: Instant): boolean {
  return (
    hasCredits(left, at) || left.assignment.counters.some(({ used, end }) => used > 0 && isAhead(end, at))
  );
}

/**
 * Whether to keep a plan that the customer leaves. Unused limits are kept too, because a hold that is settled late counts toward its
 * original limit.
 */
function isKept(left: PausedPlan, at: Instant): boolean {
  return hasCredits(left, at) || left.assignment.counters.some(({ end }) => isAhead(end, at));
}

function hasCredits({ assignment, grants }: PausedPlan, at: Instant): boolean {
  return (
    grants.some((grant) => isAhead(grant.expiresAt, at)) ||
    assignment.allowances.some((allowance) => isAhead(allowance.end, at))
  );
}

/** The newest version that was published by `at`. `at` may be in the past. */
export function versionAt(plan: Plan, at: Instant): PlanVersion {
  return plan.versions.findLast(({ publishedAt }) => publishedAt <= at) ?? latestVersion(plan);
}

export function laterOf(a: Instant, b: Instant): Instant {
  return brandAs<Instant>(Math.max(a, b));
}
