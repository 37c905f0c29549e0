import type { Catalog } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import { brandAs, type FeatureId, type FeatureKey } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { type FeatureContent, featureContent } from "../catalog/content.ts";
import {
  etagOf,
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
} from "../catalog/preconditions.ts";
import { beginWriting, featureId, writeFeature } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

export type FeatureInput = Omit<FeatureContent, "archived">;

export type FeatureOutcome =
  | { kind: "defined"; id: FeatureId; catalog: Catalog }
  | { kind: "pool_not_found" }
  | PreconditionFailure;

/** Creates or edits a feature. Plans charge the pinned cost until they are published again. */
export function defineFeature(
  cell: Pool,
  context: Context,
  input: FeatureInput,
  preconditions: Preconditions | null = null,
): Promise<FeatureOutcome> {
  return editCatalog<FeatureOutcome>(cell, context, async (tx, catalog, at) => {
    const key = brandAs<FeatureKey>(input.key);
    const known = catalog.features.get(key);
    const before = known === undefined ? null : featureContent(catalog, known);
    const state = { etag: before && etagOf(before), isReplaced: before !== null };
    const failure = preconditions && judgePreconditions(preconditions, state);
    if (failure !== null) return { outcome: failure, audits: [] };
    const writing = beginWriting(tx, context.environmentId, catalog, at);
    if (!writing.pools.has(input.pool)) return { outcome: { kind: "pool_not_found" }, audits: [] };
    const { name, unit, pool, cost } = input;
    const after = { key, name, unit, pool, cost, archived: before?.archived ?? false };
    const audits = await writeFeature(writing, before, after);
    // Reads the ETag in this transaction, because a later read could return the ETag of the next edit.
    const edited = await loadCatalog(tx, context.environmentId);
    return { outcome: { kind: "defined", id: featureId(writing, key), catalog: edited }, audits };
  });
}

type ArchiveFeatureOutcome =
  | { kind: "archived"; catalog: Catalog }
  | { kind: "feature_not_found" }
  | PreconditionFailure;

/** Archives or unarchives a feature. An archived feature cannot be added to more plans. Plans that include the feature keep it. */
export function archiveFeature(
  cell: Pool,
  context: Context,
  input: { readonly key: string; readonly archived: boolean },
  preconditions: Preconditions,
): Promise<ArchiveFeatureOutcome> {
  return editCatalog<ArchiveFeatureOutcome>(cell, context, async (tx, catalog, at) => {
    const feature = catalog.features.get(brandAs<FeatureKey>(input.key));
    if (feature === undefined) return { outcome: { kind: "feature_not_found" }, audits: [] };
    const before = featureContent(catalog, feature);
    const failure = judgePreconditions(preconditions, { etag: etagOf(before), isReplaced: false });
    if (failure !== null) return { outcome: failure, audits: [] };
    const writing = beginWriting(tx, context.environmentId, catalog, at);
    const audits = await writeFeature(writing, before, { ...before, archived: input.archived });
    return { outcome: { kind: "archived", catalog: await loadCatalog(tx, context.environmentId) }, audits };
  });
}
