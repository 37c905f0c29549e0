import { PostgresServer } from "../harness/postgres.ts";

/** Files of 16 MB each, as many as a round writes. */
const LOG_FILES = 64;

const SETTINGS = ["shared_buffers=1GB", "max_wal_size=8GB", "min_wal_size=2GB", "max_connections=200"];

/** A fresh PostgreSQL with durability on, and memory and log sized as any installation would; nothing is analyzed by hand. */
export function openBenchServer(
  stack: AsyncDisposableStack,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  return PostgresServer.start(stack, settings, SETTINGS);
}

/**
 * Leaves the server with log files to write over, as one that has run for a while has. A fresh one makes each of them
 * anew, which holds a commit up for 10 to 30 ms every few seconds, on either side of the comparison.
 */
export async function recycleLog(server: PostgresServer): Promise<void> {
  for (let file = 0; file < LOG_FILES; file++) {
    // A file without a record in it is not switched.
    await server.query("postgres", "select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()");
  }
  await server.query("postgres", "checkpoint");
}

export type Counts = Readonly<Record<string, number>>;

/** Numbers by name, each a query of one value, all of one instant. */
export async function count(
  server: PostgresServer,
  database: string,
  queries: Readonly<Record<string, string>>,
): Promise<Counts> {
  const columns = Object.entries(queries).map(([name, query]) => `(${query}) as "${name}"`);
  const [row = {}] = await server.query(database, `select ${columns.join(", ")}`);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
}

export function growth(before: Counts, after: Counts): Counts {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? Number.NaN)]),
  );
}

export function expectGrowth(grown: Counts, expected: Counts): void {
  for (const [name, value] of Object.entries(expected)) {
    if (grown[name] !== value) throw new Error(`${name}: ${value} expected, ${grown[name]} found`);
  }
}
