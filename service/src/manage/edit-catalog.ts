import type { Catalog } from "../entitlement/catalog.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { insertAudit } from "../store/cell/audit.ts";
import { ensureCatalog, loadCatalog, raiseCatalogVersion } from "../store/cell/catalogs.ts";
import { upsertPool } from "../store/cell/pools.ts";
import type { Instant } from "../words/brand.ts";
import type { Context } from "./context.ts";

export type CatalogEdit<T> = {
  readonly outcome: T;
  /** What people will read about it; null when nothing was changed. */
  readonly audit: { action: string; subject: string; before: object | null; after: object | null } | null;
};

/** An environment starts with one pool, and most never need another. */
const FIRST_POOL = { key: "credits", name: "Credits" };

/**
 * Edits a catalog in one transaction, one edit after another: the version is raised first, which locks it, and the
 * catalog is read after that. Processes see the new version with their next request.
 */
export async function editCatalog<T>(
  cell: Pool,
  context: Context,
  edit: (tx: Tx, catalog: Catalog, at: Instant) => Promise<CatalogEdit<T>>,
): Promise<T> {
  const { environmentId, actor } = context;
  const { outcome } = await transaction(
    cell,
    async (tx) => {
      const isNew = await ensureCatalog(tx, context);
      const recordedAt = await raiseCatalogVersion(tx, environmentId);
      if (isNew) await upsertPool(tx, environmentId, FIRST_POOL);
      const edited = await edit(tx, await loadCatalog(tx, environmentId), recordedAt);
      const { audit } = edited;
      if (audit !== null) {
        await insertAudit(tx, { environmentId, recordedAt, actor, customerNumber: null, ...audit });
      }
      return edited;
    },
    ({ audit }) => audit !== null,
  );
  return outcome;
}
