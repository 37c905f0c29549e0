import type { Catalog } from "../entitlement/catalog.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import type { Instant } from "../primitives/brand.ts";
import { upsertPool } from "../store/cell/catalog-definitions.ts";
import { ensureCatalog, lockCatalog, raiseCatalogVersion } from "../store/cell/catalog-row.ts";
import { loadCatalog } from "../store/cell/catalogs.ts";
import { readClock } from "../store/cell/clock.ts";
import { refuseLargeCatalog } from "./catalog/bounds.ts";
import { FIRST_POOL } from "./catalog/content.ts";
import type { Context } from "./context.ts";
import { type EnvironmentAudit, recordAudits } from "./record-audits.ts";

export type CatalogEdit<T> = {
  readonly outcome: T;
  /** Empty if the edit changed nothing, in which case the transaction is rolled back. */
  readonly audits: readonly EnvironmentAudit[];
};

type Edit<T> = (tx: Tx, catalog: Catalog, at: Instant) => Promise<CatalogEdit<T>>;

/**
 * Edits a catalog in one transaction. Raising the version locks the catalog row, so edits run one after another. The catalog is
 * read while the lock is held. Other processes use the new version from their next request on.
 */
export function editCatalog<T>(cell: Pool, context: Context, edit: Edit<T>): Promise<T> {
  return editLocked(cell, context, edit, () => true);
}

/**
 * Edits drafts while holding the catalog lock, but does not raise the version of an existing catalog. Drafts do not affect customers, so
 * no process has to reload the catalog.
 */
export function editDrafts<T>(cell: Pool, context: Context, edit: Edit<T>): Promise<T> {
  return editLocked(cell, context, edit, (isNew) => isNew);
}

/** The catalog version before the current edit raised it, which is the version that callers have read. */
export function versionBefore({ version }: Catalog): number {
  return version - 1;
}

/** Creates the catalog and its first pool if the catalog does not exist, so that credits can be added before anyone edits the catalog. */
export async function ensureFirstPool(tx: Tx, context: Context): Promise<void> {
  if (await ensureCatalog(tx, context)) await upsertPool(tx, context.environmentId, FIRST_POOL);
}

async function editLocked<T>(
  cell: Pool,
  context: Context,
  edit: Edit<T>,
  mustRaise: (isNew: boolean) => boolean,
): Promise<T> {
  const { environmentId } = context;
  const { outcome } = await transaction(
    cell,
    async (tx) => {
      const isNew = await ensureCatalog(tx, context);
      const recordedAt = mustRaise(isNew)
        ? await raiseCatalogVersion(tx, environmentId)
        : await lockAndReadClock(tx, context);
      if (isNew) await upsertPool(tx, environmentId, FIRST_POOL);
      const edited = await edit(tx, await loadCatalog(tx, environmentId), recordedAt);
      if (edited.audits.length > 0) await refuseLargeCatalog(tx, environmentId);
      await recordAudits(tx, context, recordedAt, edited.audits);
      return edited;
    },
    ({ audits }) => audits.length > 0,
    // An edit repeated after `outcome_unknown` may find nothing to change and succeed. By then, the first edit must be durable,
    // so this transaction locks the catalog row and commits.
    (tx) => lockCatalog(tx, environmentId),
  );
  return outcome;
}

async function lockAndReadClock(tx: Tx, { environmentId }: Context): Promise<Instant> {
  await lockCatalog(tx, environmentId);
  return readClock(tx);
}
