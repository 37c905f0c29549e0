import {
  type Catalog,
  type Cost,
  type Feature,
  latestVersion,
  type Plan,
} from "../../entitlement/catalog.ts";
import { assert } from "../../primitives/assert.ts";
import type { FeatureId, FeatureKey, PoolId } from "../../primitives/brand.ts";
import type { EventKeyName } from "../../store/cell/event-keys.ts";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";

// A catalog without internal IDs. Items are identified by key, and lists are sorted, so that environments with the same catalog
// have equal content.

export type PoolContent = {
  readonly key: string;
  readonly name: string;
  /** Sorted, highest first. */
  readonly lowBalances: readonly number[];
};

/** A pool as callers send it. Without `lowBalances`, an existing pool keeps its thresholds. */
export type GivenPool = Pick<PoolContent, "key" | "name"> & {
  readonly lowBalances?: readonly number[] | undefined;
};

/** Every environment has this pool, even before the first edit inserts it. */
export const FIRST_POOL: PoolContent = { key: "credits", name: "Credits", lowBalances: [] };

export type FeatureContent = {
  readonly key: string;
  readonly name: string;
  readonly unit: string | null;
  readonly pool: string;
  readonly cost: Cost;
  readonly archived: boolean;
};

export type AllowanceContent = PlanTerms["allowances"][number];

/** A feature with the pool and cost that the plan pinned. They may differ from the feature's current pool and cost. */
export type PlanFeatureContent = PlanTerms["features"][number] & {
  readonly pool: string;
  readonly cost: Cost;
};

/** A plan with its latest version. */
export type PlanContent = {
  readonly key: string;
  readonly name: string;
  readonly allowances: readonly AllowanceContent[];
  readonly features: readonly PlanFeatureContent[];
  readonly archived: boolean;
};

export type EventKeyContent = { readonly key: string; readonly name: string; readonly unit: string | null };

export type CatalogContent = {
  readonly pools: readonly PoolContent[];
  readonly features: readonly FeatureContent[];
  readonly plans: readonly PlanContent[];
  readonly eventKeys: readonly EventKeyContent[];
  readonly defaultPlan: string | null;
};

export function contentOf(catalog: Catalog, eventKeys: readonly EventKeyName[]): CatalogContent {
  const { plan } = catalog.defaultPlan;
  return {
    pools: poolContents(catalog),
    features: sortByKey([...catalog.features.values()].map((feature) => featureContent(catalog, feature))),
    plans: sortByKey([...catalog.plans.values()].map((each) => planContent(catalog, each))),
    eventKeys: sortByKey(eventKeys.map(({ key, name, unit }) => ({ key, name, unit }))),
    defaultPlan: plan === null ? null : (catalog.plans.get(plan)?.key ?? null),
  };
}

export function poolContents({ version, pools }: Catalog): PoolContent[] {
  const isUnwritten = version === 0;
  const known = isUnwritten ? [FIRST_POOL] : [...pools.values()];
  return sortByKey(known.map(({ key, name, lowBalances }) => ({ key, name, lowBalances })));
}

/** Completes a pool with the thresholds that it keeps. */
export function completePool({ key, name, lowBalances }: GivenPool, before: PoolContent | null): PoolContent {
  const wanted = lowBalances ?? before?.lowBalances ?? [];
  return { key, name, lowBalances: wanted.toSorted((a, b) => b - a) };
}

export function featureContent(catalog: Catalog, feature: Feature): FeatureContent {
  const { key, name, unit, pool, cost, archivedAt } = feature;
  return { key, name, unit, pool: poolKey(catalog, pool), cost, archived: archivedAt !== null };
}

export function planContent(catalog: Catalog, plan: Plan): PlanContent {
  const { key, name, archivedAt } = plan;
  return { key, name, ...versionContent(catalog, latestVersion(plan)), archived: archivedAt !== null };
}

export function versionContent(
  catalog: Catalog,
  version: Plan["versions"][number],
): Pick<PlanContent, "allowances" | "features"> {
  const featureKeys = featureKeysOf(catalog);
  const allowances = version.allowances.map(({ pool, credits, period, rollover, overage }) => ({
    pool: poolKey(catalog, pool),
    credits,
    period,
    rollover,
    overage,
  }));
  const features = [...version.features.values()].map(({ feature, limit, pool, cost }) => {
    const key = featureKeys.get(feature);
    assert(key !== undefined, "a feature is never deleted");
    return { feature: key, limit, pool: poolKey(catalog, pool), cost };
  });
  return {
    allowances: allowances.sort((a, b) => compareKeys(a.pool, b.pool)),
    features: features.sort((a, b) => compareKeys(a.feature, b.feature)),
  };
}

const featureKeysByCatalog = new WeakMap<Catalog["features"], ReadonlyMap<FeatureId, FeatureKey>>();

/** Feature keys by ID. Cached, because they are needed for every plan in the catalog. */
export function featureKeysOf({ features }: Catalog): ReadonlyMap<FeatureId, FeatureKey> {
  const known = featureKeysByCatalog.get(features);
  if (known !== undefined) return known;
  const keys = new Map([...features.values()].map(({ id, key }) => [id, key]));
  featureKeysByCatalog.set(features, keys);
  return keys;
}

function poolKey({ pools }: Catalog, id: PoolId): string {
  const pool = pools.get(id);
  assert(pool !== undefined, "a pool is never deleted");
  return pool.key;
}

/** Whether two values are equal as JSON: -0 equals 0, and the order of fields does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const fields = Object.entries(a);
  const others = new Map(Object.entries(b));
  return (
    fields.length === others.size &&
    fields.every(([name, value]) => others.has(name) && isSame(value, others.get(name)))
  );
}

export function sortByKey<T extends { readonly key: string }>(values: readonly T[]): T[] {
  return values.toSorted((a, b) => compareKeys(a.key, b.key));
}

/** Sorts keys independently of the machine's locale. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
