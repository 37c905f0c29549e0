import { type Catalog, latestVersion, type VersionReach } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { loadCatalog, withTerms } from "../../store/cell/catalogs.ts";
import { listEventKeys } from "../../store/cell/event-keys.ts";
import type { Context } from "../context.ts";
import { editCatalog, versionBefore } from "../edit-catalog.ts";
import type { EnvironmentAudit } from "../record-audits.ts";
import { type CatalogChange, type CatalogComparison, compareCatalogs } from "./compare-catalogs.ts";
import { type CatalogContent, contentOf } from "./content.ts";
import type { GivenCatalog } from "./document.ts";
import type { PreconditionFailure } from "./preconditions.ts";
import {
  beginWriting,
  type Writing,
  writeDefaultPlan,
  writeEventKey,
  writeFeature,
  writePlan,
  writePool,
} from "./writing.ts";

/** Reads the catalog to apply, from a file or another environment. */
export type CatalogSource = (tx: Tx, target: CatalogContent) => Promise<GivenCatalog>;

type Refused = Exclude<CatalogComparison, { kind: "comparable" }>;

export type DiffOutcome = { kind: "compared"; version: number; changes: readonly CatalogChange[] } | Refused;

export function exportCatalog(cell: Pool, environmentId: EnvironmentId): Promise<CatalogContent> {
  return single(cell, async (tx) => readContent(tx, environmentId, await loadCatalog(tx, environmentId)));
}

/** Reads the catalog's content. Loads the latest version of each plan if it is not in memory. */
export async function readContent(
  tx: Tx,
  environmentId: EnvironmentId,
  catalog: Catalog,
): Promise<CatalogContent> {
  const latest = [...catalog.plans.values()].map(latestVersion);
  const complete = await withTerms(tx, environmentId, catalog, latest);
  return contentOf(complete, await listEventKeys(tx, environmentId));
}

/** Lists what applying the catalog would change. Writes nothing. */
export function diffCatalog(
  cell: Pool,
  { environmentId }: Context,
  source: CatalogSource,
  options: { readonly archiveMissing: boolean },
): Promise<DiffOutcome> {
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const current = await readContent(tx, environmentId, catalog);
    const compared = compareCatalogs(current, await source(tx, current), options);
    if (compared.kind !== "comparable") return compared;
    return { kind: "compared", version: catalog.version, changes: compared.changes };
  });
}

export type ApplyOptions = {
  readonly archiveMissing: boolean;
  readonly reach: VersionReach;
  readonly expectedVersion: number | null;
};

export type ApplyOutcome =
  | { kind: "applied" | "unchanged"; version: number; changes: readonly CatalogChange[] }
  | Refused
  | PreconditionFailure;

/** Applies a catalog completely or not at all. Safe to repeat: unchanged items are not written. */
export function applyCatalog(
  cell: Pool,
  context: Context,
  source: CatalogSource,
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  const { environmentId } = context;
  const { expectedVersion, reach } = options;
  return editCatalog<ApplyOutcome>(cell, context, async (tx, catalog, at) => {
    const seen = versionBefore(catalog);
    if (expectedVersion !== null && expectedVersion !== seen)
      return { outcome: { kind: "changed_meanwhile" }, audits: [] };
    const current = await readContent(tx, environmentId, catalog);
    const compared = compareCatalogs(current, await source(tx, current), options);
    if (compared.kind !== "comparable") return { outcome: compared, audits: [] };
    const { changes } = compared;
    const writing = beginWriting(tx, environmentId, catalog, at);
    const audits: EnvironmentAudit[] = [];
    for (const change of changes) audits.push(...(await writeChange(writing, change, reach)));
    if (audits.length === 0) return { outcome: { kind: "unchanged", version: seen, changes }, audits };
    return { outcome: { kind: "applied", version: catalog.version, changes }, audits };
  });
}

function writeChange(
  writing: Writing,
  change: CatalogChange,
  reach: VersionReach,
): Promise<EnvironmentAudit[]> {
  switch (change.noun) {
    case "pool":
      return writePool(writing, change.before, change.after);
    case "feature":
      return writeFeature(writing, change.before, change.after);
    case "event_key":
      return writeEventKey(writing, change.before, change.after);
    case "plan":
      return writePlan(writing, change.before, change.after, reach);
    case "default_plan":
      return writeDefaultPlan(writing, change.before?.plan ?? null, change.after.plan);
    default:
      return assertNever(change);
  }
}
