import type { Pool } from "../../postgres/pool.ts";
import { type PoolContent, poolContents } from "../catalog/content.ts";
import { beginWriting, writePool } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

/** Creates or renames a pool. */
export function definePool(cell: Pool, context: Context, pool: PoolContent): Promise<void> {
  const { environmentId } = context;
  const { key, name } = pool;
  return editCatalog(cell, context, async (tx, catalog, at) => {
    const before = poolContents(catalog).find((pool) => pool.key === key) ?? null;
    const writing = beginWriting(tx, environmentId, catalog, at);
    return { outcome: undefined, audits: await writePool(writing, before, { key, name }) };
  });
}
