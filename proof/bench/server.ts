import { expectEqual } from "../harness/figures.ts";
import { PostgresServer } from "../harness/postgres.ts";

/** Number of WAL segments (16 MB each) that a round writes. */
const LOG_FILES = 64;

const SETTINGS = ["shared_buffers=1GB", "max_wal_size=8GB", "min_wal_size=2GB", "max_connections=200"];

/** A new PostgreSQL server with durability on and typical memory and WAL sizes. No table is analyzed manually. */
export function openBenchServer(
  stack: AsyncDisposableStack,
  settings: readonly string[] = [],
  binDirectory?: string,
): Promise<PostgresServer> {
  return PostgresServer.start(stack, settings, SETTINGS, binDirectory);
}

/**
 * Creates WAL segments for the server to recycle, as on a server that has run for a while. Creating a segment delays a commit
 * by 10 to 30 ms every few seconds.
 */
export async function recycleLog(server: PostgresServer): Promise<void> {
  for (let file = 0; file < LOG_FILES; file++) {
    // PostgreSQL does not switch an empty segment.
    await server.query("postgres", "select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()");
  }
  await server.query("postgres", "checkpoint");
}

export type Counts = Readonly<Record<string, number>>;

/** Runs queries in one snapshot. Each query returns one number. */
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

/** Throws unless each count grew by its value in `each`, multiplied by `times`. */
export function expectGrowth(grown: Counts, each: Counts, times: number): void {
  for (const [name, value] of Object.entries(each)) expectEqual(name, grown[name], value * times);
}
