import type { Cost } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import { upsertFeature } from "../../store/cell/features.ts";
import { brandAs, type FeatureId, type FeatureKey } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

export type FeatureInput = {
  readonly key: string;
  readonly name: string;
  readonly unit: string | null;
  /** The pool's key. */
  readonly pool: string;
  readonly cost: Cost;
};

export type FeatureOutcome = { kind: "defined"; id: FeatureId } | { kind: "pool_not_found" };

/** Defines a feature, or changes one. Plans go on charging what they pinned until they are published again. */
export function defineFeature(cell: Pool, context: Context, input: FeatureInput): Promise<FeatureOutcome> {
  return editCatalog<FeatureOutcome>(cell, context, async (tx, catalog) => {
    const pool = [...catalog.pools.values()].find(({ key }) => key === input.pool);
    if (pool === undefined) return { outcome: { kind: "pool_not_found" }, audit: null };
    const key = brandAs<FeatureKey>(input.key);
    const before = catalog.features.get(key) ?? null;
    const id = await upsertFeature(tx, context.environmentId, { ...input, key, pool: pool.id });
    const audit = { action: "feature.defined", subject: input.key, before, after: input };
    return { outcome: { kind: "defined", id }, audit };
  });
}
