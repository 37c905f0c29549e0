import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../../service/src/postgres/migrate.ts";
import { openPool, type Pool } from "../../service/src/postgres/pool.ts";
import { startLoop } from "./loop.ts";

export type Row = Readonly<Record<string, unknown>>;

/** One database of a server. Each query opens its own connection, so that it works after a crash of the server. */
export type Database = {
  readonly name: string;
  readonly url: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
};

export function databaseAt(url: string): Database {
  const name = new URL(url).pathname.slice(1);
  return {
    name,
    url,
    query: (text, values = []) =>
      withClient(url, async (client) => (await client.query(text, [...values])).rows),
  };
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url, name: "proof", sizeMax: 1, onIdleError: () => {} });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

export function migrateDatabase(url: string): Promise<unknown> {
  return withClient(url, migrate);
}

export async function countRows(database: Pick<Database, "query">, table: string): Promise<number> {
  const [row] = await database.query(`select count(*) as rows from ${table}`);
  return Number(row?.["rows"]);
}

/** Waits until autovacuum has analyzed the tables, so that the planner has statistics. */
export async function awaitStatistics(database: Database, tables: readonly string[]): Promise<void> {
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 500) {
    const [row] = await database.query(
      `select count(*) as known from pg_stat_user_tables
       where schemaname = 'cell' and relname = any($1::text[]) and last_autoanalyze is not null
         and n_mod_since_analyze < 0.2 * n_live_tup + 50`,
      [tables],
    );
    if (Number(row?.["known"]) === tables.length) return;
    await pause(500);
  }
  throw new Error("autovacuum did not analyze the tables within two minutes");
}

/** Samples the running transactions of the management API. `stop` returns the longest observed duration in milliseconds. */
export function watchTransactions(database: Database): { stop(): Promise<number> } {
  let msMax = 0;
  const loop = startLoop(async () => {
    const [row] = await database.query(
      `select coalesce(max(extract(epoch from clock_timestamp() - xact_start) * 1000), 0) as ms
       from pg_stat_activity
       where application_name like 'purser/% manage' and xact_start is not null and state <> 'idle'`,
    );
    msMax = Math.max(msMax, Number(row?.["ms"]));
    await pause(20);
  });
  return { stop: () => loop.stop().then(() => msMax) };
}
