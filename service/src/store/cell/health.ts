import { readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { LatestMigration } from "../control/health.ts";

const READ_MIGRATION = statement(
  "health.read_cell_migration",
  `
  select m.number, m.name, (extract(epoch from m.applied_at) * 1000)::bigint
  from cell.migrations as m
  order by m.number desc
  limit 1`,
);

export async function readCellMigration(tx: Tx): Promise<LatestMigration> {
  const { rows } = await tx.run(READ_MIGRATION);
  assert(rows[0] !== undefined, "a service runs on a schema that was migrated");
  const [number, name, appliedAt] = rows[0];
  return { number: readInteger(number), name: readText(name), appliedAt: readInstant(appliedAt) };
}

export type TableSize = { readonly table: string; readonly bytes: number };

// Reads the sizes from the system catalog. The size of a table includes its partitions. A partition dropped during the query counts as 0.
const LIST_LARGEST = statement(
  "health.list_largest_tables",
  `
  select n.nspname || '.' || t.relname, sum(p.bytes)::bigint
  from (
    select
      coalesce(pg_partition_root(c.oid), c.oid) as root,
      coalesce(pg_total_relation_size(c.oid), 0) as bytes
    from pg_class as c
    where c.relnamespace in (select oid from pg_namespace where nspname in ('control', 'cell'))
      and c.relkind = 'r'
  ) as p
  join pg_class as t on t.oid = p.root
  join pg_namespace as n on n.oid = t.relnamespace
  group by n.nspname, t.relname
  order by sum(p.bytes) desc, n.nspname, t.relname
  limit $1`,
);

/** Lists the largest tables in the `control` and `cell` schemas. Sizes include indexes. */
export async function listLargestTables(tx: Tx, limit: number): Promise<TableSize[]> {
  const { rows } = await tx.run(LIST_LARGEST, [limit]);
  return rows.map(([table, bytes]) => ({ table: readText(table), bytes: readInteger(bytes) }));
}
