import type { Client } from "pg";

/** The state of a table's identity sequence. */
type IdentitySequence = Readonly<Listed> & {
  /** True if a row already has the next number. Logical replication copies rows, but not sequences. */
  readonly isBehind: boolean;
  /** True if more than half of the sequence's numbers are used. */
  readonly isHalfUsed: boolean;
};

/** Quoted names, and the smallest and largest number of the sequence. */
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

/** Reads rows and sequence in one SQL statement, so that all rows it sees got their numbers before it reads the sequence. */
function standing({ sequence, table, column, min, max }: Listed): string {
  return `
    from ${sequence} as s
    cross join (select max(${column}) as highest from ${table} where ${column} between ${min} and ${max}) as r`;
}

const IS_BEHIND =
  "coalesce(r.highest > s.last_value or (r.highest = s.last_value and not s.is_called), false)";

/**
 * Reads the sequences in both schemas that this role may read. With `quickly`, leaves out tables whose highest number cannot be
 * read from an index. cell.customers is never left out.
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
 * Raises each sequence that is behind its table's rows. Never lowers a sequence. Must run in a transaction. Returns the tables whose
 * sequence was behind.
 */
export async function raiseIdentitySequences(client: Client): Promise<string[]> {
  const sequences = await readIdentitySequences(client, { quickly: false });
  const behind = sequences.filter(({ isBehind }) => isBehind);
  for (const one of behind) {
    // Changes nothing, but locks the sequence, so that no number is assigned before `setval`.
    await client.query(`alter sequence ${one.sequence} no cycle`);
    await client.query(`select setval('${one.sequence}', r.highest) ${standing(one)} where ${IS_BEHIND}`);
  }
  return behind.map(({ table }) => table);
}
