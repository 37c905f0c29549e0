import type { FeatureKey, Instant, PoolId } from "../primitives/brand.ts";
import { isAhead } from "./assignment.ts";
import {
  type Catalog,
  type Cost,
  type Feature,
  getVersion,
  type Limit,
  type PlanVersion,
} from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { findCounter, findOwn } from "./limits.ts";
import { findOverride, hasEnd, isEmpty, isSame } from "./overrides.ts";
import type { PeriodKind } from "./period.ts";
import type {
  AllowanceOverride,
  FeatureOverride,
  OverrideTerms,
  OwnCounter,
  OwnLimit,
  Wallet,
} from "./wallet.ts";

/** What a caller says. Null and undefined have the same meaning as in `FeatureOverride`. */
export type OverridesRequest = {
  readonly features: readonly {
    readonly feature: Feature;
    readonly included: boolean | null;
    readonly cost: Cost | null;
    readonly limit: Limit | null | undefined;
  }[];
  readonly allowances: readonly {
    readonly pool: PoolId;
    /** Null: that of the current plan's allowance. */
    readonly period: PeriodKind | null;
    readonly credits: number;
  }[];
  readonly endsAt: Instant | null;
};

export type OverridesOutcome =
  | { kind: "changed"; change: Change }
  /** The customer has the same overrides already. The change holds only due changes. */
  | { kind: "unchanged"; change: Change | null }
  | { kind: "ends_in_the_past" }
  /** An archived feature can be used by plans that have it, but not be added. */
  | { kind: "feature_archived"; feature: FeatureKey }
  /** Without an allowance in the current plan, the period of an overridden one is unknown. */
  | { kind: "period_unknown"; pool: PoolId };

/** Replaces all overrides of a customer. Features change immediately, allowances with their next period. Safe to repeat. */
export function setOverrides(
  catalog: Catalog,
  wallet: Wallet,
  request: OverridesRequest,
  clock: Instant,
): OverridesOutcome {
  const now = decisionTime(catalog, wallet, clock);
  if (!isAhead(request.endsAt, now)) return { kind: "ends_in_the_past" };
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  const { assignment, overrides } = draft.wallet;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
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

/** Fills in what stays as it is at this moment: the pool and cost of an added feature, the anchor of a limit, the period of an allowance. */
function pinTerms(
  wallet: Wallet,
  version: PlanVersion | null,
  { features, allowances, endsAt }: OverridesRequest,
  now: Instant,
): OverrideTerms | Extract<OverridesOutcome, { kind: "feature_archived" | "period_unknown" }> {
  const pinned: FeatureOverride[] = [];
  for (const { feature, included, cost, limit } of features) {
    // What was pinned first stays, so that repeating a call changes nothing.
    const known = findOverride(wallet.overrides, feature.id);
    const isPlanned = version?.features.has(feature.id) ?? false;
    if (included && known?.added == null && !isPlanned && feature.archivedAt !== null)
      return { kind: "feature_archived", feature: feature.key };
    const added = included ? (known?.added ?? { pool: feature.pool, cost: feature.cost }) : null;
    const own = limit && {
      ...limit,
      anchor: anchorOf(wallet, { feature: feature.id, ...limit }, known, now),
    };
    pinned.push({ feature: feature.id, included, cost, limit: own, added });
  }
  const pinnedAllowances: AllowanceOverride[] = [];
  for (const { pool, credits, period } of allowances) {
    const known = wallet.overrides?.allowances.find((other) => other.pool === pool);
    const planned = version?.allowances.find((other) => other.pool === pool);
    const pinnedPeriod = period ?? known?.period ?? planned?.period;
    if (pinnedPeriod === undefined) return { kind: "period_unknown", pool };
    pinnedAllowances.push({ pool, period: pinnedPeriod, credits });
  }
  return {
    features: pinned.sort((a, b) => a.feature - b.feature),
    allowances: pinnedAllowances.sort((a, b) => a.pool - b.pool),
    endsAt,
  };
}

/** A limit keeps its periods while it is set, and while it is counted. A new one has the periods of the plan. */
function anchorOf(
  { assignment, ownCounters }: Wallet,
  limit: Limit & Pick<FeatureOverride, "feature">,
  known: FeatureOverride | null,
  now: Instant,
): Instant {
  if (known?.limit?.period === limit.period) return known.limit.anchor;
  return findOwn(ownCounters, limit, now)?.end ?? assignment?.anchor ?? now;
}

/** A new limit starts with what the plan has counted, if both limits have the same period. */
function startCounters(
  { assignment, overrides, ownCounters, sequence }: Wallet,
  version: PlanVersion | null,
  terms: OverrideTerms,
  now: Instant,
): OwnCounter[] {
  const limits = terms.features.flatMap(({ feature, limit }): (OwnLimit & Pick<OwnCounter, "feature">)[] =>
    limit ? [{ feature, ...limit }] : [],
  );
  const isLimited = ({ feature, period }: OwnCounter): boolean =>
    limits.some((limit) => limit.feature === feature && limit.period === period);
  const kept = ownCounters.filter((counter) => hasEnd(counter) || isLimited(counter));
  const started = limits.flatMap(({ feature, period }): OwnCounter[] => {
    const isNew = findOverride(overrides, feature)?.limit?.period !== period;
    const planned = assignment === null ? undefined : findCounter(assignment.counters, feature, now);
    if (!isNew || assignment === null || planned === undefined) return [];
    if (findOwn(kept, { feature, period }, now) !== undefined) return [];
    if (version?.features.get(feature)?.limit?.period !== period) return [];
    const earlier = { assignment: assignment.number, fromSequence: planned.fromSequence };
    return [{ ...planned, period, fromSequence: sequence + 1, earlier }];
  });
  return [...kept, ...started];
}
