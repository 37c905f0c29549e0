import type { Catalog, PlanVersion } from "../../../service/src/entitlement/catalog.ts";
import {
  brandAs,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../../service/src/primitives/brand.ts";
import { type PlanContent, POOL } from "../../harness/project.ts";
import { DEFAULT_PLAN, FEATURES, isFeatureKey, PLANS } from "../catalog.ts";
import type { Stored } from "./stored.ts";

/** Before any run. Runs do not change the catalog. */
const PUBLISHED_AT = brandAs<Instant>(0);

/** The catalog of the run, with the IDs that the database assigned. Contains only the pools that exist in the database. */
export function catalogOf(stored: Pick<Stored, "pools" | "features" | "plans" | "planVersions">): Catalog {
  const pools = stored.pools.map(({ id, key }) => ({
    id: brandAs<PoolId>(id),
    key,
    name: key,
    lowBalances: [],
  }));
  const features = stored.features.flatMap(({ id, key, pool }) => {
    if (!isFeatureKey(key)) return [];
    const { credits, per } = FEATURES[key];
    const known = { name: key, unit: null, pool: brandAs<PoolId>(pool), archivedAt: null };
    return [{ id: brandAs<FeatureId>(id), key: brandAs<FeatureKey>(key), cost: { credits, per }, ...known }];
  });
  const contents: Readonly<Record<string, PlanContent>> = PLANS;
  const versions = stored.planVersions.flatMap(({ id, plan }): PlanVersion[] => {
    const content = contents[stored.plans.find((other) => other.id === plan)?.key ?? ""];
    if (content === undefined) return [];
    const pinned = features.flatMap(({ id: feature, key, cost, pool }) => {
      const limit = content.features[key];
      return limit === undefined ? [] : [[feature, { feature, pool, cost, limit }] as const];
    });
    const allowanceOf = new Map(Object.entries({ [POOL]: content.allowance, ...content.otherAllowances }));
    return [
      {
        id: brandAs<PlanVersionId>(id),
        plan: brandAs<PlanId>(plan),
        number: 1,
        identity: String(id),
        publishedAt: PUBLISHED_AT,
        reach: "new_assignments",
        allowances: pools.flatMap(({ id: pool, key }) => {
          const allowance = allowanceOf.get(key);
          return allowance === undefined ? [] : [{ pool, rollover: 0, overage: 0, ...allowance }];
        }),
        features: new Map(pinned),
      },
    ];
  });
  const plans = stored.plans.map(({ id, key }) => ({
    id: brandAs<PlanId>(id),
    key,
    name: key,
    archivedAt: null,
    versions: versions.filter(({ plan }) => plan === id),
  }));
  return {
    version: 1,
    changedAt: PUBLISHED_AT,
    pools: new Map(pools.map((pool) => [pool.id, pool])),
    features: new Map(features.map((feature) => [feature.key, feature])),
    plans: new Map(plans.map((plan) => [plan.id, plan])),
    versions: new Map(versions.map((version) => [version.id, version])),
    defaultPlan: { plan: plans.find(({ key }) => key === DEFAULT_PLAN)?.id ?? null, since: PUBLISHED_AT },
    noticeTypes: new Set(),
  };
}
