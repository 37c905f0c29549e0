import { assert } from "../primitives/assert.ts";
import type { FeatureId, FeatureKey, Instant, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";
import type { PeriodKind } from "./period.ts";

/** An environment's pools, features and plans, at one revision. Immutable: an edit produces a new catalog. */
export type Catalog = {
  readonly version: number;
  readonly changedAt: Instant;
  readonly pools: ReadonlyMap<PoolId, Pool>;
  readonly features: ReadonlyMap<FeatureKey, Feature>;
  readonly plans: ReadonlyMap<PlanId, Plan>;
  readonly versions: ReadonlyMap<PlanVersionId, PlanVersion>;
  /** The plan for customers without an assigned plan. `since` is when it was last set or cleared. */
  readonly defaultPlan: { readonly plan: PlanId | null; readonly since: Instant };
  /** The types of notices that at least one enabled webhook receives. */
  readonly noticeTypes: ReadonlySet<NoticeType>;
};

/** The types of notices that a webhook can receive. */
export const NOTICE_TYPES = [
  "balance.low",
  "balance.depleted",
  "overage.started",
  "limit.reached",
  "plan.changed",
  "plan.ended",
  "hold.expired",
  "hold.uncovered",
  "topup.due",
] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** A type of credit that several features can share. */
export type Pool = {
  readonly id: PoolId;
  readonly key: string;
  readonly name: string;
  /** A balance that falls below one of these thresholds is low. Sorted, highest first. */
  readonly lowBalances: readonly number[];
};

/** 3 credits per 1,000 tokens is `{credits: 3, per: 1000}`. */
export type Cost = { readonly credits: number; readonly per: number };

export type Feature = {
  readonly id: FeatureId;
  readonly key: FeatureKey;
  readonly name: string;
  readonly unit: string | null;
  readonly pool: PoolId;
  readonly cost: Cost;
  /** When the feature was archived, or null. An archived feature cannot be added to a plan, but plans that include it keep it. */
  readonly archivedAt: Instant | null;
};

export type Plan = {
  readonly id: PlanId;
  readonly key: string;
  readonly name: string;
  /** When the plan was archived, or null. An archived plan cannot be assigned, but customers on it keep it. */
  readonly archivedAt: Instant | null;
  /** Sorted by number, never empty. New assignments use the last version. */
  readonly versions: readonly PlanVersion[];
};

/** When existing customers on the plan get a version: never, at their next period, or immediately. */
export type VersionReach = "new_assignments" | "next_period" | "now";

/** A published version of a plan. A version pins costs: an edit to a feature takes effect only in the next version. */
export type PlanVersion = {
  readonly id: PlanVersionId;
  readonly plan: PlanId;
  readonly number: number;
  /** Never reused. A version's number and ID can be reused after a failover that lost its publication. */
  readonly identity: string;
  readonly publishedAt: Instant;
  readonly reach: VersionReach;
  readonly allowances: readonly Allowance[];
  readonly features: PinnedFeatures;
};

/**
 * The features of a version. If the features are not in memory yet, a read throws an exception that names what to load. An unloaded
 * feature therefore never looks like a missing feature.
 */
export type PinnedFeatures = {
  get(feature: FeatureId): PlanFeature | undefined;
  has(feature: FeatureId): boolean;
  values(): Iterable<PlanFeature>;
};

/**
 * The credits that a plan grants in each period. A plan has at most one allowance per pool. The credits expire `rollover` periods after
 * their period ends.
 */
export type Allowance = {
  readonly pool: PoolId;
  readonly credits: number;
  readonly period: PeriodKind;
  readonly rollover: number;
  /** Credits that may be used beyond the allowance in each period. Null if unlimited, 0 if none. */
  readonly overage: number | null;
};

export type PlanFeature = {
  readonly feature: FeatureId;
  readonly pool: PoolId;
  readonly cost: Cost;
  readonly limit: Limit | null;
};

/** How much of a feature a customer may use in one period. */
export type Limit = { readonly quantity: number; readonly period: PeriodKind };

/** The cost of a quantity, rounded up to a whole credit. Uses integers only, so that no rounding error can occur. */
export function chargeFor(cost: Cost, quantity: number): number {
  const product = quantity * cost.credits;
  assert(Number.isSafeInteger(product), "a charge fits in 53 bits");
  const rest = product % cost.per;
  return (product - rest) / cost.per + (rest > 0 ? 1 : 0);
}

const KEYS = new WeakMap<Catalog, ReadonlyMap<FeatureId, FeatureKey>>();

/** The key of a feature. The index is built once for each catalog. */
export function getFeatureKey(catalog: Catalog, id: FeatureId): FeatureKey {
  const keys = KEYS.get(catalog) ?? new Map([...catalog.features.values()].map(({ id, key }) => [id, key]));
  KEYS.set(catalog, keys);
  const key = keys.get(id);
  assert(key !== undefined, "a feature is never deleted");
  return key;
}

export function getPool(catalog: Catalog, id: PoolId): Pool {
  const pool = catalog.pools.get(id);
  assert(pool !== undefined, "a pool is never deleted");
  return pool;
}

export function getVersion(catalog: Catalog, id: PlanVersionId): PlanVersion {
  const version = catalog.versions.get(id);
  assert(version !== undefined, "a published version is never deleted");
  return version;
}

export function getPlan(catalog: Catalog, id: PlanId): Plan {
  const plan = catalog.plans.get(id);
  assert(plan !== undefined, "a plan is never deleted");
  return plan;
}

export function latestVersion(plan: Plan): PlanVersion {
  const version = plan.versions.at(-1);
  assert(version !== undefined, "a plan has a published version");
  return version;
}
