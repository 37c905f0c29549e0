import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const STORE = join(import.meta.dirname, "../src/store");
/** A statement's name as the store writes it. Column names have aliases of one or two letters. */
const NAME = /"([a-z_]{4,}\.[a-z_0-9]+)"/g;

/**
 * Makes a server count the statements that run. The extension comes with Debian's packages. Each test has its own database with its
 * own counts, and the server drops counts above the maximum.
 */
export const COUNTING = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=200000"];

/** Lists the store's statements that no test ran on this server. */
export async function listStatementsNotRun(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("create extension pg_stat_statements");
    const { rows } = await client.query<{ name: string }>(
      `select distinct substring(query from '^/\\* ([a-z_.0-9]+) \\*/') as name from pg_stat_statements`,
    );
    const run = new Set(rows.map(({ name }) => name));
    return listStatements().filter((name) => !run.has(name));
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
