import type { Catalog, PlanVersion } from "../../src/entitlement/catalog.ts";
import type { PeriodKind } from "../../src/entitlement/period.ts";
import type { PlanId } from "../../src/primitives/brand.ts";
import { periodHolding } from "./calendar.ts";
import { type Counter, type Customer, isOver, type PlanTaken } from "./customer.ts";
import { endHolds } from "./holds.ts";
import { replaceOverrides } from "./own-limits.ts";

/** Applies everything due, in order of time. */
export function passTime(catalog: Catalog, customer: Customer, to: number): void {
  settle(catalog, customer);
  for (let at = nextMoment(catalog, customer); at !== null && at <= to; at = nextMoment(catalog, customer)) {
    customer.now = at;
    settle(catalog, customer);
  }
  customer.now = to;
}

/** The first time after the customer's `now` at which something is due. */
export function nextMoment(catalog: Catalog, customer: Customer): number | null {
  const { plan, now } = customer;
  const moments: (number | null)[] = [
    catalog.defaultPlan.since,
    customer.next?.startsAt ?? null,
    customer.overrides?.endsAt ?? null,
    ...customer.grants.map((grant) => grant.expiresAt),
    ...customer.holds.filter(({ state }) => state === "open").map((hold) => hold.expiresAt),
  ];
  if (plan !== null) {
    moments.push(plan.endsAt, ...plan.periods.map((period) => period.end));
    const newer = newerVersions(catalog, plan);
    const boundary = boundaryOf(plan.version);
    moments.push(...newer.map((version) => version.publishedAt));
    if (newer.length > 0 && boundary !== null) {
      moments.push(periodHolding(boundary, { anchor: plan.anchor, at: now }).end);
    }
  }
  const later = moments.filter((moment) => moment !== null && moment > now).map(Number);
  return later.length === 0 ? null : Math.min(...later);
}

/** Applies everything due at the customer's `now`, in the order that the service must follow. */
export function settle(catalog: Catalog, customer: Customer): void {
  endHolds(customer);
  endOverrides(customer);
  endAssignment(customer);
  startScheduledPlan(catalog, customer);
  followDefaultPlan(catalog, customer);
  forgetExpiredAllowances(customer);
  changeVersion(catalog, customer);
  grantAllowances(customer);
  if (customer.plan !== null) customer.plan.leftAt = null;
}

export function leavePlan(customer: Customer): void {
  if (customer.plan === null) return;
  customer.left.push({ ...customer.plan, leftAt: customer.now });
  customer.plan = null;
}

export function takeUpPlan(
  catalog: Catalog,
  customer: Customer,
  wanted: { plan: PlanId; anchor: number; endsAt: number | null; isDefault: boolean },
): void {
  const { plan, anchor, endsAt, isDefault } = wanted;
  const before = findResumable(customer, plan);
  customer.left = customer.left.filter((left) => left.plan !== plan);
  if (before !== undefined) {
    customer.plan = { ...before, endsAt, isDefault };
    return;
  }
  customer.plansTaken += 1;
  const version = versionsOf(catalog, plan).findLast((it) => it.publishedAt <= customer.now);
  if (version === undefined) throw new Error("the plan has no published version");
  const number = customer.plansTaken;
  customer.plan = {
    number,
    plan,
    version,
    anchor,
    endsAt,
    isDefault,
    leftAt: null,
    periods: [],
    counters: [],
  };
}

/** Finds a plan that the customer has left and that resumes when the customer returns. */
export function findResumable(customer: Customer, plan: PlanId): PlanTaken | undefined {
  return customer.left.find((left) => left.plan === plan && isAlive(customer, left));
}

/**
 * Whether a plan that the customer has left still has credits, an allowance whose period has not ended, or a used limit whose period has
 * not ended.
 */
function isAlive(customer: Customer, left: PlanTaken): boolean {
  const { now } = customer;
  const ends = [
    ...customer.grants
      .filter((grant) => grant.allowanceOf === left.number && !grant.isDropped)
      .map((grant) => grant.expiresAt),
    ...left.periods.map((period) => period.end),
    ...left.counters.filter((counter) => isUsed(customer, counter)).map((counter) => counter.end),
  ];
  return ends.some((end) => !isOver(end, now));
}

function isUsed({ consumes }: Customer, counter: Counter): boolean {
  return counter.consumes.some((at) => (consumes[at]?.quantity ?? 0) > (consumes[at]?.reversed ?? 0));
}

function versionsOf(catalog: Catalog, plan: PlanId): readonly PlanVersion[] {
  return catalog.plans.get(plan)?.versions ?? [];
}

function newerVersions(catalog: Catalog, { plan, version }: PlanTaken): PlanVersion[] {
  return versionsOf(catalog, plan).filter(({ number }) => number > version.number);
}

function endOverrides(customer: Customer): void {
  if (customer.overrides !== null && isOver(customer.overrides.endsAt, customer.now))
    replaceOverrides(customer, null);
}

function endAssignment(customer: Customer): void {
  if (customer.plan !== null && isOver(customer.plan.endsAt, customer.now)) leavePlan(customer);
}

function startScheduledPlan(catalog: Catalog, customer: Customer): void {
  const { next, now } = customer;
  if (next === null || next.startsAt > now) return;
  customer.next = null;
  if (customer.plan?.plan === next.plan) {
    const isSooner =
      (next.endsAt ?? Number.POSITIVE_INFINITY) < (customer.plan.endsAt ?? Number.POSITIVE_INFINITY);
    if (next.shorten || customer.plan.isDefault || !isSooner) customer.plan.endsAt = next.endsAt;
    customer.plan.isDefault = false;
    return;
  }
  leavePlan(customer);
  takeUpPlan(catalog, customer, { ...next, isDefault: false });
}

function followDefaultPlan(catalog: Catalog, customer: Customer): void {
  const { plan, since } = catalog.defaultPlan;
  if (since > customer.now) return;
  if (customer.plan?.isDefault && customer.plan.plan !== plan) leavePlan(customer);
  if (customer.plansTaken > 0) takeUpDefaultPlan(catalog, customer);
}

/** Assigns the default plan to a customer without any plan. This happens at the first decision, not when credits are added. */
export function takeUpDefaultPlan(catalog: Catalog, customer: Customer): void {
  const { plan } = catalog.defaultPlan;
  if (customer.plan !== null || plan === null) return;
  takeUpPlan(catalog, customer, { plan, anchor: customer.now, endsAt: null, isDefault: true });
}

/** Removes expired allowances, which a reversal cannot restore. Other expired grants are kept, because reversals need them. */
function forgetExpiredAllowances(customer: Customer): void {
  customer.grants = customer.grants.filter(
    (grant) => grant.kind !== "allowance" || !isOver(grant.expiresAt, customer.now),
  );
}

function changeVersion(catalog: Catalog, customer: Customer): void {
  const { plan, now } = customer;
  if (plan === null) return;
  // Repeats, because the next version may apply immediately.
  for (
    let version = findDueVersion(catalog, plan, now);
    version !== null;
    version = findDueVersion(catalog, plan, now)
  ) {
    switchVersion(customer, plan, version);
  }
}

function switchVersion(customer: Customer, plan: PlanTaken, version: PlanVersion): void {
  const { now } = customer;
  plan.version = version;
  plan.leftAt = null;
  // A period that ends now is renewed by the next step.
  for (const period of plan.periods) {
    if (isOver(period.end, now)) continue;
    const grant = customer.grants.find((it) => it.id === period.grant);
    if (grant === undefined) throw new Error("the grant of a current period is missing");
    const allowance = version.allowances.find((it) => it.pool === period.pool);
    grant.isDropped = allowance === undefined;
    if (allowance === undefined) {
      grant.remaining = 0;
      continue;
    }
    const { rollover } = allowance;
    const { end, expiresAt } = periodHolding(allowance.period, { anchor: plan.anchor, at: now, rollover });
    if (period.end !== end) period.own = null;
    period.end = end;
    grant.expiresAt = expiresAt;
    grant.remaining = Math.max(0, (period.own ?? allowance.credits) - grant.gone - grant.held);
  }
  for (const counter of plan.counters) {
    const limit = version.features.get(counter.feature)?.limit ?? null;
    if (limit === null || isOver(counter.end, now)) continue;
    counter.end = periodHolding(limit.period, { anchor: plan.anchor, at: now }).end;
  }
}

/** Finds the newest version that reaches this customer now. */
function findDueVersion(catalog: Catalog, plan: PlanTaken, now: number): PlanVersion | null {
  const newer = newerVersions(catalog, plan);
  if (newer.length === 0) return null;
  const period = boundaryOf(plan.version);
  const boundary = period === null ? now : periodHolding(period, { anchor: plan.anchor, at: now }).start;
  const atBoundary = newer.filter(
    ({ reach, publishedAt }) => reach !== "new_assignments" && publishedAt <= boundary,
  );
  // A resumed plan first applies the version of the period boundary it missed.
  const missed = plan.leftAt !== null && boundary > plan.leftAt ? atBoundary.at(-1) : undefined;
  const published = newer.filter(({ reach, publishedAt }) => reach === "now" && publishedAt <= now);
  return missed ?? (boundary === now ? atBoundary : published).at(-1) ?? null;
}

/** The longest period of a plan's allowances, or else of its limits. Null if there is none. */
function boundaryOf(version: PlanVersion): PeriodKind | null {
  const ofAllowances = version.allowances.map((allowance) => allowance.period);
  const ofLimits = [...version.features.values()].flatMap(({ limit }) =>
    limit === null ? [] : [limit.period],
  );
  return longest(ofAllowances) ?? longest(ofLimits);
}

function longest(periods: readonly PeriodKind[]): PeriodKind | null {
  const byLength = ["year", "month", "week", "day"] as const;
  return byLength.find((period) => periods.includes(period)) ?? null;
}

function grantAllowances(customer: Customer): void {
  const { plan, now } = customer;
  if (plan === null) return;
  for (const { pool, credits: planned, period, rollover } of plan.version.allowances) {
    const current = plan.periods.find((it) => it.pool === pool);
    if (current !== undefined && !isOver(current.end, now)) continue;
    const { end, expiresAt } = periodHolding(period, { anchor: plan.anchor, at: now, rollover });
    const own =
      customer.overrides?.allowances.find((it) => it.pool === pool && it.period === period)?.credits ?? null;
    const credits = own ?? planned;
    customer.grantsMade += 1;
    customer.grants.push({
      id: customer.grantsMade,
      pool,
      kind: "allowance",
      allowanceOf: plan.number,
      givenAt: now,
      expiresAt,
      remaining: credits,
      gone: 0,
      held: 0,
      heldRevoked: 0,
      isDropped: false,
      additions: [{ credits, isRevoked: false }],
    });
    plan.periods = plan.periods.filter((it) => it !== current);
    plan.periods.push({ pool, end, grant: customer.grantsMade, own });
  }
}
