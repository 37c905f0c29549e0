import type { Catalog } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { brandAs, type FeatureKey } from "../../words/brand.ts";
import { featureContent } from "../catalog/content.ts";
import {
  etagOf,
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
} from "../catalog/preconditions.ts";
import { beginWriting, writeFeature } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

export type ArchiveFeatureOutcome =
  | { kind: "archived"; catalog: Catalog }
  | { kind: "feature_not_found" }
  | PreconditionFailure;

/** No further plan can take it up. Plans that include it keep it, and whoever is on them. */
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
