import { type Catalog, latestVersion } from "../../entitlement/catalog.ts";
import { brandAs, type FeatureKey } from "../../primitives/brand.ts";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";
import { compareKeys, type PlanContent } from "../catalog/content.ts";
import { findPlan } from "./plan-state.ts";

export type MissingTerm =
  | { kind: "pool_not_found"; key: string }
  | { kind: "feature_not_found"; key: string };

export type PinnedTerms = { kind: "pinned"; content: PlanContent } | MissingTerm;

/** What a plan would say if it were published now: each feature at its present cost. */
export function pinTerms(catalog: Catalog, key: string, terms: PlanTerms): PinnedTerms {
  const plan = findPlan(catalog, key);
  const kept = plan === null ? null : latestVersion(plan).features;
  const pools = new Map([...catalog.pools.values()].map((pool) => [pool.id, pool.key]));
  const poolKeys = new Set(pools.values());
  for (const { pool } of terms.allowances)
    if (!poolKeys.has(pool)) return { kind: "pool_not_found", key: pool };

  const features: PlanContent["features"][number][] = [];
  for (const { feature: featureKey, limit } of terms.features) {
    const feature = catalog.features.get(brandAs<FeatureKey>(featureKey));
    // What is archived stays where it is, and comes to no further plan.
    const isOffered =
      feature !== undefined && (feature.archivedAt === null || kept?.has(feature.id) === true);
    const pool = feature && pools.get(feature.pool);
    if (!isOffered || pool === undefined) return { kind: "feature_not_found", key: featureKey };
    features.push({ feature: featureKey, limit, pool, cost: feature.cost });
  }
  const { name, allowances } = sortTerms(terms);
  const archived = plan !== null && plan.archivedAt !== null;
  features.sort((a, b) => compareKeys(a.feature, b.feature));
  return { kind: "pinned", content: { key, name, allowances, features, archived } };
}

/** Lists have no order of their own: versions keep none. */
export function sortTerms({ name, allowances, features }: PlanTerms): PlanTerms {
  return {
    name,
    allowances: allowances.toSorted((a, b) => compareKeys(a.pool, b.pool)),
    features: features.toSorted((a, b) => compareKeys(a.feature, b.feature)),
  };
}
