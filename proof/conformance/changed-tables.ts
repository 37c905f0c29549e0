import type { TestDatabase } from "../../service/test/harness.ts";

/** Returns the names of all tables whose rows `work` changed. */
export async function changedTables(
  database: TestDatabase,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const before = await digestTables(database);
  await work();
  const after = await digestTables(database);
  return [...after.keys()].filter((table) => after.get(table) !== before.get(table));
}

async function digestTables(database: TestDatabase): Promise<Map<string, unknown>> {
  const tables = await database.query(`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
      and c.relkind in ('r', 'p')
      and not c.relispartition
      -- Written by jobs a moment later: roll-ups, the progress of jobs, and the log of requests, including rejected ones.
      and c.relname not like 'usage%'
      and c.relname not in ('meters', 'sweeps', 'request_log', 'request_counts')
    order by name`);
  const digests = new Map<string, unknown>();
  for (const { name } of tables) {
    // The last use of an API key is written by a timer.
    const [row] = await database.query(`
      select md5(string_agg(r.text, ' ' order by r.text)) as digest
      from (select (to_jsonb(t) - 'last_used_at')::text as text from ${name} as t) as r`);
    digests.set(String(name), row?.["digest"]);
  }
  return digests;
}
