import type { Client } from "pg";

/** Where the numbers stand that PostgreSQL gives to the rows of a table. */
export type IdentitySequence = Readonly<Listed> & {
  /** The next number is one that a row has already: logical replication copies rows, and no sequences. */
  readonly isBehind: boolean;
  /** More than half of all numbers there are for this table were given out. */
  readonly isHalfUsed: boolean;
};

/** Names as they stand in SQL, and the range that numbers come from. */
type Listed = { sequence: string; table: string; column: string; min: string; max: string };

const LIST = `
  select
    format('%I.%I', n.nspname, s.relname) as sequence,
    format('%I.%I', n.nspname, t.relname) as table,
    quote_ident(a.attname) as column,
    q.seqmin::text as min,
    q.seqmax::text as max
  from pg_sequence as q
  join pg_class as s on s.oid = q.seqrelid
  join pg_namespace as n on n.oid = s.relnamespace
  join pg_depend as d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype = 'i'
  join pg_class as t on t.oid = d.refobjid and d.refclassid = 'pg_class'::regclass
  join pg_attribute as a on a.attrelid = t.oid and a.attnum = d.refobjsubid
  where n.nspname in ('control', 'cell')
    and has_table_privilege(s.oid, 'select')
    and has_column_privilege(t.oid, a.attnum, 'select')
    and (not $1 or exists (select from pg_index as i where i.indrelid = t.oid and i.indkey[0] = a.attnum))
  order by 2`;

/** One statement: rows that its snapshot shows got their numbers before it reads the sequence. */
function standing({ sequence, table, column, min, max }: Listed): string {
  return `
    from ${sequence} as s
    cross join (select max(${column}) as highest from ${table} where ${column} between ${min} and ${max}) as r`;
}

const IS_BEHIND =
  "coalesce(r.highest > s.last_value or (r.highest = s.last_value and not s.is_called), false)";

/**
 * Those of both schemas that this role may read. `quickly`: only those whose highest number an index shows, cell.customers
 * among them.
 */
export async function readIdentitySequences(
  client: Client,
  { quickly }: { readonly quickly: boolean },
): Promise<IdentitySequence[]> {
  const { rows: listed } = await client.query<Listed>(LIST, [quickly]);
  const found: IdentitySequence[] = [];
  for (const one of listed) {
    const { rows } = await client.query<{ is_behind: boolean; is_half_used: boolean }>(
      `select ${IS_BEHIND} as is_behind, s.last_value - ${one.min} > (${one.max} - ${one.min}) / 2 as is_half_used
       ${standing(one)}`,
    );
    const { is_behind: isBehind = false, is_half_used: isHalfUsed = false } = rows[0] ?? {};
    found.push({ ...one, isBehind, isHalfUsed });
  }
  return found;
}

/**
 * Lets those that are behind go on above their rows, in a transaction. None is ever set back. Returns the tables of those
 * that were behind.
 */
export async function raiseIdentitySequences(client: Client): Promise<string[]> {
  const sequences = await readIdentitySequences(client, { quickly: false });
  const behind = sequences.filter(({ isBehind }) => isBehind);
  for (const one of behind) {
    // Changes nothing, and locks the sequence: nobody gets a number between the look and the change.
    await client.query(`alter sequence ${one.sequence} no cycle`);
    await client.query(`select setval('${one.sequence}', r.highest) ${standing(one)} where ${IS_BEHIND}`);
  }
  return behind.map(({ table }) => table);
}
