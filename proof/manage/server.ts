import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";

export const DATABASE = "manage";

export type ProofServer = {
  readonly databaseUrl: string;
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  /** Lets the server write down the plan of every statement that `work` makes it run, and returns what it wrote. */
  explain(work: () => Promise<void>): Promise<string>;
};

/** Durable, and able to explain what it does; all else is as it comes. */
const SETTINGS = [
  "shared_buffers=512MB",
  "max_wal_size=4GB",
  // Plans follow the statistics, which a server of its own accord takes within a minute: here within some seconds.
  "autovacuum_naptime=5s",
  "logging_collector=on",
  "log_destination=jsonlog",
  "shared_preload_libraries=auto_explain",
  "auto_explain.log_format=json",
];

/** Until every session has heard of a setting, and until the log is written. */
const SETTLE_MS = 300;

/** Of two settings of one name the last is in force. */
export async function openProofServer(
  stack: AsyncDisposableStack,
  settings: readonly string[] = [],
): Promise<ProofServer> {
  const server = await startTemporaryServer("manage", { settings: [...SETTINGS, ...settings] });
  stack.defer(() => server.stop());
  const query: ProofServer["query"] = async (database, text) => {
    const client = new pg.Client(server.url(database));
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  await query("postgres", `create database ${DATABASE}`);
  const explainAll = async (setting: string): Promise<void> => {
    await query("postgres", `alter system ${setting}`);
    await query("postgres", "select pg_reload_conf()");
    await pause(SETTLE_MS);
  };
  return {
    databaseUrl: server.url(DATABASE),
    query,
    async explain(work) {
      const [row = {}] = await query(
        "postgres",
        "select current_setting('data_directory') as directory, pg_current_logfile('jsonlog') as file",
      );
      const file = join(String(row["directory"]), String(row["file"]));
      const { length } = await readFile(file);
      await explainAll("set auto_explain.log_min_duration = 0");
      await work();
      await pause(SETTLE_MS);
      const log = (await readFile(file)).subarray(length).toString();
      await explainAll("reset auto_explain.log_min_duration");
      return log;
    },
  };
}

/** When the tables' statistics were taken since they were filled: until then a planner knows nothing about them. */
export async function awaitStatistics(server: ProofServer, tables: readonly string[]): Promise<void> {
  const names = tables.map((table) => `'${table}'`).join(", ");
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 500) {
    const [row = {}] = await server.query(
      DATABASE,
      `select count(*) as known from pg_stat_user_tables
       where schemaname = 'cell' and relname in (${names}) and last_autoanalyze is not null
         and n_mod_since_analyze < 0.2 * n_live_tup + 50`,
    );
    if (Number(row["known"]) === tables.length) return;
    await pause(500);
  }
  throw new Error("autovacuum has not come by within two minutes");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
