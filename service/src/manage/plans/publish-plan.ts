import type { Catalog, Plan, PlanFeature, VersionReach } from "../../entitlement/catalog.ts";
import type { PeriodKind } from "../../entitlement/period.ts";
import type { Pool } from "../../postgres/pool.ts";
import {
  insertAllowances,
  insertPlanFeatures,
  insertPlanVersion,
  upsertPlan,
} from "../../store/cell/plans.ts";
import { brandAs, type FeatureKey, type PlanId, type PlanVersionId, type PoolId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

export type PlanInput = {
  readonly key: string;
  readonly name: string;
  /** Who gets it besides new assignments. */
  readonly reach: VersionReach;
  readonly allowances: readonly {
    readonly pool: string;
    readonly credits: number;
    readonly period: PeriodKind;
    readonly rollover: number;
  }[];
  readonly features: readonly {
    readonly feature: string;
    readonly limit: { readonly quantity: number; readonly period: PeriodKind } | null;
  }[];
};

export type PublishOutcome =
  | { kind: "published"; plan: PlanId; version: PlanVersionId; number: number }
  | { kind: "pool_not_found"; key: string }
  | { kind: "feature_not_found"; key: string };

/** Publishes a version of a plan, the first one if the plan is new. It pins what its features cost now. */
export function publishPlan(cell: Pool, context: Context, input: PlanInput): Promise<PublishOutcome> {
  const { environmentId } = context;
  return editCatalog<PublishOutcome>(cell, context, async (tx, catalog, publishedAt) => {
    const missing = findMissing(catalog, input);
    if (missing !== null) return { outcome: missing, audit: null };
    const before = [...catalog.plans.values()].find(({ key }) => key === input.key) ?? null;
    const plan = await upsertPlan(tx, environmentId, input);
    const number = nextNumber(before);
    const version = await insertPlanVersion(tx, environmentId, {
      plan,
      number,
      publishedAt,
      reach: input.reach,
    });
    const allowances = input.allowances.map((allowance) => ({
      ...allowance,
      pool: poolIdOf(catalog, allowance.pool),
    }));
    await insertAllowances(tx, environmentId, version, allowances);
    await insertPlanFeatures(tx, environmentId, version, pinFeatures(catalog, input));
    return {
      outcome: { kind: "published", plan, version, number },
      audit: {
        action: "plan.published",
        subject: input.key,
        before: before === null ? null : describe(before),
        after: { ...input, number },
      },
    };
  });
}

function findMissing(catalog: Catalog, input: PlanInput): PublishOutcome | null {
  const pools = new Set([...catalog.pools.values()].map(({ key }) => key));
  for (const { pool } of input.allowances) if (!pools.has(pool)) return { kind: "pool_not_found", key: pool };
  for (const { feature } of input.features) {
    if (!catalog.features.has(brandAs<FeatureKey>(feature)))
      return { kind: "feature_not_found", key: feature };
  }
  return null;
}

function pinFeatures(catalog: Catalog, input: PlanInput): PlanFeature[] {
  return input.features.flatMap(({ feature: key, limit }) => {
    const feature = catalog.features.get(brandAs<FeatureKey>(key));
    return feature === undefined
      ? []
      : [{ feature: feature.id, pool: feature.pool, cost: feature.cost, limit }];
  });
}

function poolIdOf(catalog: Catalog, key: string): PoolId {
  const pool = [...catalog.pools.values()].find((other) => other.key === key);
  if (pool === undefined) throw new Error(`there is no pool ${key}`);
  return pool.id;
}

function nextNumber(plan: Plan | null): number {
  return (plan?.versions.at(-1)?.number ?? 0) + 1;
}

/** Maps do not survive JSON. */
function describe({ name, versions }: Plan): object {
  const latest = versions.at(-1);
  return { name, ...(latest === undefined ? {} : { ...latest, features: [...latest.features.values()] }) };
}
