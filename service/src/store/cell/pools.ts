import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type PoolId } from "../../primitives/brand.ts";

const UPSERT = statement(
  "pools.upsert",
  `
  insert into cell.pools (environment_id, key, name)
  values ($1, $2, $3)
  on conflict on constraint pools_key_key do update set name = excluded.name
  returning id`,
);

/** Defines a pool, or renames the one that is there. */
export async function upsertPool(
  tx: Tx,
  environmentId: EnvironmentId,
  pool: { readonly key: string; readonly name: string },
): Promise<PoolId> {
  const { rows } = await tx.run(UPSERT, [environmentId, pool.key, pool.name]);
  return brandAs<PoolId>(readInteger(rows[0]?.[0]));
}
