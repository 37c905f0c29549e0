import type { FeatureKey, Instant, PoolId } from "../primitives/brand.ts";
import { findCurrentVersion } from "./buying-power.ts";
import type { Catalog, Cost, Feature, Limit, PlanVersion } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { findCounter, findOwn } from "./limits.ts";
import { findOverride, isEmpty, isSame } from "./overrides.ts";
import { isAhead, type PeriodKind, periodAt } from "./period.ts";
import type { AllowanceOverride, FeatureOverride, OverrideTerms, OwnCounter, Wallet } from "./wallet.ts";

/** The overrides in a call. Null and undefined mean the same as in `FeatureOverride`. */
export type OverridesRequest = {
  readonly features: readonly {
    readonly feature: Feature;
    readonly included: boolean | null;
    readonly cost: Cost | null;
    readonly limit: Limit | null | undefined;
  }[];
  readonly allowances: readonly {
    readonly pool: PoolId;
    /** The allowance's period. Null for the period of the current plan's allowance. */
    readonly period: PeriodKind | null;
    /** Null and undefined mean the same as in `AllowanceOverride`. */
    readonly credits: number | null;
    readonly overage: number | null | undefined;
  }[];
  readonly endsAt: Instant | null;
};

export type OverridesOutcome =
  | { kind: "changed"; change: Change }
  /** The customer already has the same overrides. The change contains only due changes. */
  | { kind: "unchanged"; change: Change | null }
  | { kind: "ends_in_the_past" }
  /** Plans that include an archived feature keep it, but overrides cannot add it. */
  | { kind: "feature_archived"; feature: FeatureKey }
  /** The call has no period, and neither the current plan nor the current overrides have an allowance in this pool. */
  | { kind: "period_unknown"; pool: PoolId };

/**
 * Replaces all overrides for a customer. Features and overage change immediately, allowance credits with the next period. Safe to repeat.
 */
export function setOverrides(
  catalog: Catalog,
  wallet: Wallet,
  request: OverridesRequest,
  clock: Instant,
): OverridesOutcome {
  const now = decisionTime(catalog, wallet, clock);
  if (!isAhead(request.endsAt, now)) return { kind: "ends_in_the_past" };
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const { overrides } = draft.wallet;
  const version = findCurrentVersion(catalog, draft.wallet);
  const terms = pinTerms(draft.wallet, version, request, now);
  if ("kind" in terms) return terms;
  const isKept = overrides === null ? isEmpty(terms) : isSame(overrides, terms);
  if (isKept) return { kind: "unchanged", change: draft.finish(now) };
  const ownCounters = startCounters(draft.wallet, version, terms, now);
  draft.override(terms);
  draft.wallet = { ...draft.wallet, ownCounters };
  const change = draft.finish(now);
  return change === null ? { kind: "unchanged", change } : { kind: "changed", change };
}

/** Fills in the current pool and cost of an added feature, the anchor of a limit, and the period of an allowance. */
function pinTerms(
  wallet: Wallet,
  version: PlanVersion | null,
  { features, allowances, endsAt }: OverridesRequest,
  now: Instant,
): OverrideTerms | Extract<OverridesOutcome, { kind: "feature_archived" | "period_unknown" }> {
  const pinned: FeatureOverride[] = [];
  for (const { feature, included, cost, limit } of features) {
    // Keeps the values pinned by an earlier call, so that repeating a call changes nothing.
    const known = findOverride(wallet.overrides, feature.id);
    const isInPlan = version?.features.has(feature.id) ?? false;
    if (included && known?.added == null && !isInPlan && feature.archivedAt !== null)
      return { kind: "feature_archived", feature: feature.key };
    const added = included ? (known?.added ?? { pool: feature.pool, cost: feature.cost }) : null;
    const own = limit && {
      ...limit,
      anchor: anchorOf(wallet, version, { feature: feature.id, ...limit }, now),
    };
    pinned.push({ feature: feature.id, included, cost, limit: own, added });
  }
  const pinnedAllowances: AllowanceOverride[] = [];
  for (const { pool, credits, overage, period } of allowances) {
    const known = wallet.overrides?.allowances.find((other) => other.pool === pool);
    const planned = version?.allowances.find((other) => other.pool === pool);
    const repeated = known?.credits === credits && known.overage === overage ? known.period : undefined;
    const pinnedPeriod = period ?? repeated ?? planned?.period ?? known?.period;
    if (pinnedPeriod === undefined) return { kind: "period_unknown", pool };
    pinnedAllowances.push({ pool, period: pinnedPeriod, credits, overage });
  }
  return {
    features: pinned.sort((a, b) => a.feature - b.feature),
    allowances: pinnedAllowances.sort((a, b) => a.pool - b.pool),
    endsAt,
  };
}

type NamedLimit = Limit & Pick<FeatureOverride, "feature">;

/** A limit keeps its anchor while it is set or while its counter has not ended. A new limit uses the plan's anchor. */
function anchorOf(wallet: Wallet, version: PlanVersion | null, limit: NamedLimit, now: Instant): Instant {
  const { assignment, overrides } = wallet;
  const known = findOverride(overrides, limit.feature)?.limit ?? null;
  if (known?.period === limit.period) return known.anchor;
  const ofPlan = assignment?.anchor ?? now;
  const { counter, isKept } = findStart(wallet, version, limit, now);
  if (!isKept || counter === null || counter.end === null) return ofPlan;
  // Prefers the plan's anchor, so that an anchor on the 31st does not become the 28th.
  return periodAt(limit.period, ofPlan, now).end === counter.end ? ofPlan : counter.end;
}

/**
 * The counter that a newly set limit starts with: a counter left by an earlier override, or the plan's counter if both limits have the
 * same period. The higher count wins, so that setting a limit again never resets its usage.
 */
function findStart(
  { assignment, ownCounters, sequence, holdCount }: Wallet,
  version: PlanVersion | null,
  { feature, period }: NamedLimit,
  now: Instant,
): { readonly counter: OwnCounter | null; readonly isKept: boolean } {
  const kept = findOwn(ownCounters, { feature, period }, now) ?? null;
  const isSame = version?.features.get(feature)?.limit?.period === period;
  const planned = assignment === null || !isSame ? undefined : findCounter(assignment.counters, feature, now);
  if (assignment === null || planned === undefined || (kept !== null && kept.used >= planned.used))
    return { counter: kept, isKept: true };
  const { fromSequence, fromHold } = planned;
  const earlier = { assignment: assignment.number, fromSequence, fromHold };
  const from = { fromSequence: sequence + 1, fromHold: holdCount + 1 };
  return { counter: { ...planned, period, ...from, earlier }, isKept: false };
}

/** All counters under these terms. Counters of limits that are no longer set continue until their period ends. */
function startCounters(
  wallet: Wallet,
  version: PlanVersion | null,
  terms: OverrideTerms,
  now: Instant,
): OwnCounter[] {
  const { overrides, ownCounters } = wallet;
  const limits = terms.features.flatMap(({ feature, limit }): NamedLimit[] =>
    limit ? [{ feature, ...limit }] : [],
  );
  const started = limits.flatMap((limit): OwnCounter[] => {
    const isNew = findOverride(overrides, limit.feature)?.limit?.period !== limit.period;
    const counter = isNew
      ? findStart(wallet, version, limit, now).counter
      : (findOwn(ownCounters, limit, now) ?? null);
    return counter === null ? [] : [counter];
  });
  const others = ownCounters.filter(
    ({ feature, period, end }) =>
      end !== null &&
      isAhead(end, now) &&
      !limits.some((limit) => limit.feature === feature && limit.period === period),
  );
  // Keeps only the latest `LEFT_COUNTERS_MAX` of these counters, because every charge writes the whole wallet.
  return [...others.slice(-LEFT_COUNTERS_MAX), ...started];
}

const LEFT_COUNTERS_MAX = 100;
