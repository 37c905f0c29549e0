import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const STORE = join(import.meta.dirname, "../src/store");
/** A statement's name as the store writes it: the first argument of a call. Column names have aliases of one or two letters. */
const NAME = /\(\s*"([a-z_]{4,}\.[a-z_0-9]+)"/g;

export const isCounting = process.env["EVERY_STATEMENT"] === "1";

/**
 * Makes a server count the statements that run. The extension comes with Debian's packages. Each test has its own database with its
 * own counts, and the server drops counts above the maximum.
 */
export const COUNTING = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=200000"];

/** Prepares a server that counts. */
export async function startCounting(url: string): Promise<void> {
  await onClient(url, async (client) => {
    await client.query("create extension pg_stat_statements");
    await client.query("create table test_databases (oid oid primary key, file text not null)");
  });
}

/** Records which test file a database belongs to. */
export async function noteDatabase(url: string, database: string, file: string): Promise<void> {
  await onClient(url, (client) =>
    client.query("insert into test_databases select oid, $2 from pg_database where datname = $1", [
      database,
      file,
    ]),
  );
}

export type StatementRun = { readonly name: string; readonly files: readonly string[] };

/** Lists the store's statements, each with the test files that ran it on this server. */
export async function listStatementsRun(url: string): Promise<StatementRun[]> {
  const { rows } = await onClient(url, (client) =>
    client.query<StatementRun>(
      `select substring(query from '^/\\* ([a-z_.0-9]+) \\*/') as name, array_agg(distinct file) as files
       from pg_stat_statements
       join test_databases on oid = dbid
       group by 1`,
    ),
  );
  const files = new Map(rows.map((row) => [row.name, row.files]));
  return listStatements().map((name) => ({ name, files: files.get(name) ?? [] }));
}

async function onClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function listStatements(): string[] {
  const files = readdirSync(STORE, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const names = sources.flatMap((file) =>
    [...readFileSync(join(STORE, file), "utf8").matchAll(NAME)].map(([, name = ""]) => name),
  );
  return [...new Set(names)].sort();
}
