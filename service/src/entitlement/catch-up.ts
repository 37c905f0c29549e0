import { assert, assertNever } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import { laterOf, leavePlan, startPlan } from "./assignment.ts";
import { type Allowance, type Catalog, getVersion, type PlanVersion } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import { expireHold, findFirstEnd } from "./hold.ts";
import { startNextPlan } from "./next-plan.ts";
import { allowanceCredits, withoutOverrides } from "./overrides.ts";
import { endAfter, isAhead, type Period, periodAt, periodBefore } from "./period.ts";
import { findDueVersion, switchVersion } from "./plan-version.ts";
import type { Assignment, Grant, Hold, NextPlan, Wallet } from "./wallet.ts";

type Due =
  | { kind: "hold_ends"; at: Instant; hold: Hold }
  | { kind: "overrides_end"; at: Instant }
  | { kind: "plan_ends"; at: Instant }
  | { kind: "next_plan_starts"; at: Instant; next: NextPlan }
  | { kind: "default_changes"; at: Instant }
  | { kind: "grants_expire"; at: Instant }
  | { kind: "version_changes"; at: Instant; version: PlanVersion }
  | { kind: "period_begins"; at: Instant; allowance: Allowance; period: Period };

/**
 * Applies everything that fell due since the wallet's last decision, in chronological order. There is no midnight job for all
 * customers. Each customer is brought up to date by their next request. The result does not depend on how often this function runs.
 */
export function catchUp(catalog: Catalog, draft: Draft, now: Instant): void {
  for (let due = nextDue(catalog, draft, now); due !== null; due = nextDue(catalog, draft, now)) {
    draft.at = due.at;
    apply(catalog, draft, due);
  }
  draft.at = now;
}

/**
 * Applies only due expiries and the ends of holds, plans and overrides. Stops before the first other change, and leaves the draft at the
 * time of the last applied change, even if other changes are due at that time. The next request continues from there with the same result.
 * Credits that expire when a pending plan starts are also expired, because the new plan does not keep them.
 */
export function catchUpOnExpiries(catalog: Catalog, draft: Draft, now: Instant): void {
  for (let due = nextDue(catalog, draft, now); due !== null; due = nextDue(catalog, draft, now)) {
    if (due.kind === "next_plan_starts") {
      const later = draft.wallet.grants.filter(({ expiresAt }) => isAhead(expiresAt, due.at));
      // The start of the plan takes the allowances of the current plan before other credits expire. Only a request takes allowances that do
      // not expire yet, so in that case it has to write all entries.
      const takesMore = later.some(({ kind, remaining }) => kind === "allowance" && remaining > 0);
      if (takesMore || later.length === draft.wallet.grants.length) return;
      draft.at = due.at;
      expireGrants(draft, ({ kind }) => kind === "allowance");
      expireGrants(draft);
      return;
    }
    if (!TAKING.has(due.kind)) return;
    draft.at = due.at;
    apply(catalog, draft, due);
  }
}

/** Changes that do not grant the customer anything new. */
const TAKING: ReadonlySet<Due["kind"]> = new Set([
  "hold_ends",
  "grants_expire",
  "plan_ends",
  "overrides_end",
]);

/** A new customer gets the default plan on their first consume request, not on their first event or top-up. */
export function applyDefaultPlan(catalog: Catalog, draft: Draft): void {
  const { plan } = catalog.defaultPlan;
  if (plan === null || !isNew(draft.wallet)) return;
  startPlan(catalog, draft, { plan, anchor: null, endsAt: null, isDefault: true });
  catchUp(catalog, draft, draft.at);
}

function isNew({ assignmentCount }: Wallet): boolean {
  return assignmentCount === 0;
}

function apply(catalog: Catalog, draft: Draft, due: Due): void {
  switch (due.kind) {
    case "hold_ends":
      expireHold(catalog, draft, due.hold);
      break;
    case "overrides_end":
      draft.wallet = withoutOverrides(draft.wallet);
      break;
    case "plan_ends":
      leavePlan(draft);
      break;
    case "next_plan_starts":
      startNextPlan(catalog, draft, due.next);
      break;
    case "default_changes": {
      leavePlan(draft);
      const { plan } = catalog.defaultPlan;
      if (plan !== null) startPlan(catalog, draft, { plan, anchor: null, endsAt: null, isDefault: true });
      break;
    }
    case "grants_expire":
      expireGrants(draft);
      break;
    case "version_changes":
      switchVersion(draft, due.version);
      break;
    case "period_begins":
      grantAllowance(draft, due.allowance, due.period);
      break;
    default:
      assertNever(due);
  }
}

/**
 * The next due change. If several are due at the same time, the order is: end of a hold, end of overrides, plan end, pending plan,
 * default plan, expiries, plan version, new period.
 */
function nextDue(catalog: Catalog, draft: Draft, now: Instant): Due | null {
  const { wallet, at: from } = draft;
  const hold = holdEnd(wallet, from, now);
  const own = overridesEnd(wallet, from);
  const end = planEnd(wallet, from);
  const start = nextPlanStart(wallet, from);
  const change = defaultChange(catalog, wallet, from);
  const version = versionChange(catalog, wallet, from);
  const first = earliest([hold, own, end, start, change, firstExpiry(wallet, from), version], now);
  if (wallet.assignment === null) return first;
  // Periods run back to back until the plan or the overrides change. Skip periods whose allowance expires before that change, or before
  // now if no change is due.
  const planChange = earliest([own, end, start, change, version], now);
  const period = periodStart(catalog, wallet.assignment, { from, until: planChange?.at ?? now });
  if (period !== null && (first === null || period.at < first.at)) return period;
  return first;
}

function earliest(dues: readonly (Due | null)[], now: Instant): Due | null {
  let first: Due | null = null;
  for (const due of dues) {
    if (due !== null && due.at <= now && (first === null || due.at < first.at)) first = due;
  }
  return first;
}

function holdEnd(wallet: Wallet, from: Instant, now: Instant): Due | null {
  const hold = findFirstEnd(wallet, now);
  return hold === null ? null : { kind: "hold_ends", at: laterOf(hold.expiresAt, from), hold };
}

function overridesEnd({ overrides }: Wallet, from: Instant): Due | null {
  if (overrides === null || overrides.endsAt === null) return null;
  return { kind: "overrides_end", at: laterOf(overrides.endsAt, from) };
}

function planEnd({ assignment }: Wallet, from: Instant): Due | null {
  if (assignment === null || assignment.endsAt === null) return null;
  return { kind: "plan_ends", at: laterOf(assignment.endsAt, from) };
}

function nextPlanStart({ next }: Wallet, from: Instant): Due | null {
  return next === null ? null : { kind: "next_plan_starts", at: laterOf(next.startsAt, from), next };
}

/** A customer whose plan ended gets the default plan immediately. A new customer gets the default plan on their first consume request. */
function defaultChange({ defaultPlan }: Catalog, wallet: Wallet, from: Instant): Due | null {
  const { assignment } = wallet;
  if (assignment !== null && (!assignment.isDefault || assignment.plan === defaultPlan.plan)) return null;
  if (assignment === null && (defaultPlan.plan === null || isNew(wallet))) return null;
  return { kind: "default_changes", at: laterOf(defaultPlan.since, from) };
}

function firstExpiry({ grants }: Wallet, from: Instant): Due | null {
  // Grants are in burn order, so the first grant expires first.
  const expiresAt = grants[0]?.expiresAt ?? null;
  return expiresAt === null ? null : { kind: "grants_expire", at: laterOf(expiresAt, from) };
}

function versionChange(catalog: Catalog, { assignment }: Wallet, from: Instant): Due | null {
  if (assignment === null) return null;
  const due = findDueVersion(catalog, assignment, from);
  return due === null ? null : { kind: "version_changes", ...due };
}

/**
 * The next allowance to grant up to `until`. Skips periods whose allowance would have expired by then. With rollover, allowances of missed
 * periods that have not expired are granted now, dated as if granted on time.
 */
function periodStart(
  catalog: Catalog,
  assignment: Assignment,
  { from, until }: { from: Instant; until: Instant },
): Due | null {
  let first: Due | null = null;
  for (const allowance of getVersion(catalog, assignment.version).allowances) {
    const granted = assignment.allowances.find(({ pool }) => pool === allowance.pool);
    if (granted !== undefined && isAhead(granted.end, until)) continue;
    // Allowances of earlier periods were granted on time, or were not due because the plan was paused or had no allowance in the pool.
    const since = laterOf(granted?.end ?? from, from);
    const period = firstUsable(allowance, assignment.anchor, { since, until });
    const at = laterOf(period.start, since);
    if (at <= until && (first === null || at < first.at))
      first = { kind: "period_begins", at, allowance, period };
  }
  return first;
}

function firstUsable(
  { period: kind, rollover }: Allowance,
  anchor: Instant,
  { since, until }: { since: Instant; until: Instant },
): Period {
  let period = periodAt(kind, anchor, until);
  for (let back = 0; back < rollover && period.start > since; back++) {
    period = periodBefore(kind, anchor, period.start);
  }
  return period;
}

function grantAllowance(draft: Draft, allowance: Allowance, period: Period): void {
  const { assignment } = draft.wallet;
  assert(assignment !== null, "an allowance belongs to an assignment");
  const { pool } = allowance;
  const own = allowanceCredits(draft.wallet, allowance);
  const credits = own ?? allowance.credits;
  const expiresAt = endAfter(allowance.period, assignment.anchor, period.start, allowance.rollover);
  const { number: grant } = draft.open({ pool, kind: "allowance", expiresAt }, credits);
  const others = assignment.allowances.filter((other) => other.pool !== pool);
  const allowances = [
    ...others,
    { pool, end: period.end, grant, base: credits, own, overageUsed: 0, overageHeld: 0 },
  ];
  draft.wallet = { ...draft.wallet, assignment: { ...assignment, allowances } };
}

function expireGrants(draft: Draft, isChosen: (grant: Grant) => boolean = () => true): void {
  const isOver = (grant: Grant): boolean => !isAhead(grant.expiresAt, draft.at) && isChosen(grant);
  for (const { number, pool, remaining } of draft.wallet.grants.filter(isOver)) {
    if (remaining > 0) draft.move({ kind: "expire", pool, parts: [{ grant: number, amount: -remaining }] });
  }
  const grants = draft.wallet.grants.filter((grant) => !isOver(grant));
  draft.wallet = { ...draft.wallet, grants };
}
