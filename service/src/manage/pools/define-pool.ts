import type { Pool } from "../../postgres/pool.ts";
import { upsertPool } from "../../store/cell/pools.ts";
import type { PoolId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

/** A further kind of credits, or another name for one that is there. */
export function definePool(
  cell: Pool,
  context: Context,
  pool: { readonly key: string; readonly name: string },
): Promise<PoolId> {
  return editCatalog(cell, context, async (tx, catalog) => {
    const before = [...catalog.pools.values()].find(({ key }) => key === pool.key) ?? null;
    const outcome = await upsertPool(tx, context.environmentId, pool);
    return { outcome, audit: { action: "pool.defined", subject: pool.key, before, after: pool } };
  });
}
