import { type Catalog, latestVersion } from "../../entitlement/catalog.ts";
import { brandAs, type FeatureKey } from "../../primitives/brand.ts";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";
import { compareKeys, type PlanContent } from "../catalog/content.ts";
import { findPlan } from "./plan-state.ts";

export type MissingTerm =
  | { kind: "pool_not_found"; key: string }
  | { kind: "feature_not_found"; key: string };

export type PinnedTerms = { kind: "pinned"; content: PlanContent } | MissingTerm;

/** The plan as if published now: each feature at its current cost. */
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
    // A plan keeps its archived features, but no further plan can add them.
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

/** Order carries no meaning: versions do not store it. */
export function sortTerms({ name, allowances, features }: PlanTerms): PlanTerms {
  return {
    name,
    allowances: allowances.toSorted((a, b) => compareKeys(a.pool, b.pool)),
    features: features.toSorted((a, b) => compareKeys(a.feature, b.feature)),
  };
}
