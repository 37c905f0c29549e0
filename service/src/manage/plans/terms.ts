import type { Static } from "typebox";
import { type Catalog, latestVersion } from "../../entitlement/catalog.ts";
import { brandAs, type FeatureKey } from "../../primitives/brand.ts";
import type { PlanTerms } from "../../store/cell/plan-drafts.ts";
import { compareKeys, type PlanContent } from "../catalog/content.ts";
import type { allowanceInputs, planTermsInput } from "../catalog/schema.ts";
import { invalidField } from "../fields.ts";
import { findPlan } from "./plan-state.ts";

export type MissingTerm =
  | { kind: "pool_not_found"; key: string }
  | { kind: "feature_not_found"; key: string };

export type PinnedTerms = { kind: "pinned"; content: PlanContent } | MissingTerm;

/** The terms as they would be published now, with each feature at its current cost. */
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
    // A plan keeps its archived features, but other plans cannot add them.
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

/** Sorts terms. The order of terms has no meaning and is not stored in versions. */
export function sortTerms({ name, allowances, features }: PlanTerms): PlanTerms {
  return {
    name,
    allowances: allowances.toSorted((a, b) => compareKeys(a.pool, b.pool)),
    features: features.toSorted((a, b) => compareKeys(a.feature, b.feature)),
  };
}

export function readTerms({ name, allowances, features }: Static<typeof planTermsInput>): PlanTerms {
  refuseRepeats("features", "feature", features);
  return {
    name,
    allowances: readAllowances("allowances", allowances),
    features: features.map(({ feature, limit = null }) => ({ feature, limit })),
  };
}

export function readAllowances(path: string, given: Static<typeof allowanceInputs>): PlanTerms["allowances"] {
  const allowances = given.map(({ pool = "credits", credits, period, rollover = 0, overage = 0 }) => ({
    pool,
    credits,
    period,
    rollover,
    overage,
  }));
  refuseRepeats(path, "pool", allowances);
  return allowances;
}

/** Rejects a list that contains a key twice. `path` is the path of the list, `field` the name of the key field. */
export function refuseRepeats<F extends string>(
  path: string,
  field: F,
  items: readonly { readonly [K in F]: string }[],
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = item[field];
    if (seen.has(key)) {
      const message = "repeats an earlier item";
      throw invalidField({ field: `${path}.${index}.${field}`, code: "repeated", message });
    }
    seen.add(key);
  }
}
