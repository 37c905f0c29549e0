import { assert } from "../primitives/assert.ts";
import type { FeatureId, FeatureKey, Instant, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";
import type { PeriodKind } from "./period.ts";

/** Everything an environment sells, as of one version of it. Never changed: an edit makes another one. */
export type Catalog = {
  readonly version: number;
  readonly changedAt: Instant;
  readonly pools: ReadonlyMap<PoolId, Pool>;
  readonly features: ReadonlyMap<FeatureKey, Feature>;
  readonly plans: ReadonlyMap<PlanId, Plan>;
  readonly versions: ReadonlyMap<PlanVersionId, PlanVersion>;
  /** Whom nobody assigned a plan has this one. `since` is when it was chosen, or chosen to be none. */
  readonly defaultPlan: { readonly plan: PlanId | null; readonly since: Instant };
};

/** A kind of credits that several features share. */
export type Pool = { readonly id: PoolId; readonly key: string; readonly name: string };

/** 3 credits per 1,000 tokens is `{credits: 3, per: 1000}`. */
export type Cost = { readonly credits: number; readonly per: number };

export type Feature = {
  readonly id: FeatureId;
  readonly key: FeatureKey;
  readonly name: string;
  readonly unit: string | null;
  readonly pool: PoolId;
  readonly cost: Cost;
  /** Since when it is put into no further plan. Plans that have it keep it. Null: it is offered. */
  readonly archivedAt: Instant | null;
};

export type Plan = {
  readonly id: PlanId;
  readonly key: string;
  readonly name: string;
  /** Since when it is assigned to nobody else. Who is on it stays. Null: it is offered. */
  readonly archivedAt: Instant | null;
  /** By number; the last one is for new assignments. At least one. */
  readonly versions: readonly PlanVersion[];
};

/** Who else gets a version: nobody, everyone at their next period, or everyone at once. */
export type VersionReach = "new_assignments" | "next_period" | "now";

/** A plan as it was published. Costs are pinned here: an edit of a feature reaches nobody before a publication. */
export type PlanVersion = {
  readonly id: PlanVersionId;
  readonly plan: PlanId;
  readonly number: number;
  /** Given to no other version ever: numbers and ids come again when a failover has lost a publication. */
  readonly identity: string;
  readonly publishedAt: Instant;
  readonly reach: VersionReach;
  readonly allowances: readonly Allowance[];
  readonly features: PinnedFeatures;
};

/**
 * What a version says of each feature. It may not be in memory: whoever asks then meets an exception that says what to
 * fetch, never a feature that seems to be missing.
 */
export type PinnedFeatures = {
  get(feature: FeatureId): PlanFeature | undefined;
  has(feature: FeatureId): boolean;
  values(): Iterable<PlanFeature>;
};

/** At most one for a pool. An allowance expires at its period's end plus `rollover` further periods. */
export type Allowance = {
  readonly pool: PoolId;
  readonly credits: number;
  readonly period: PeriodKind;
  readonly rollover: number;
};

export type PlanFeature = {
  readonly feature: FeatureId;
  readonly pool: PoolId;
  readonly cost: Cost;
  readonly limit: { readonly quantity: number; readonly period: PeriodKind } | null;
};

export const ROLLOVER_MAX = 12;

/** What a quantity costs, rounded up to a whole credit. In integers throughout: nothing here may be a fraction. */
export function chargeFor(cost: Cost, quantity: number): number {
  const product = quantity * cost.credits;
  assert(Number.isSafeInteger(product), "a charge fits in 53 bits");
  const rest = product % cost.per;
  return (product - rest) / cost.per + (rest > 0 ? 1 : 0);
}

export function getVersion(catalog: Catalog, id: PlanVersionId): PlanVersion {
  const version = catalog.versions.get(id);
  assert(version !== undefined, "a published version never goes away");
  return version;
}

export function getPlan(catalog: Catalog, id: PlanId): Plan {
  const plan = catalog.plans.get(id);
  assert(plan !== undefined, "a plan never goes away");
  return plan;
}

export function latestVersion(plan: Plan): PlanVersion {
  const version = plan.versions.at(-1);
  assert(version !== undefined, "a plan has a published version");
  return version;
}
