import pg from "pg";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";

export type BenchServer = {
  readonly url: (database: string) => string;
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  /**
   * Leaves the server with log files to write over, as one that has run for a while has. A fresh one makes each of them
   * anew, which holds a commit up for 10 to 30 ms every few seconds, on either side of the comparison.
   */
  recycleLog(): Promise<void>;
  /** PostgreSQL's version and what makes it durable, as the server itself says. */
  describe(): Promise<string>;
};

/** Files of 16 MB each, as many as a round writes. */
const LOG_FILES = 64;

/** A fresh PostgreSQL with durability on, and memory and log sized as any installation would; nothing is analyzed by hand. */
export async function openBenchServer(
  stack: AsyncDisposableStack,
  settings: readonly string[] = [],
): Promise<BenchServer> {
  const server = await startTemporaryServer("bench", {
    settings: [
      ...["shared_buffers=1GB", "max_wal_size=8GB", "min_wal_size=2GB", "max_connections=200"],
      ...settings,
    ],
  });
  stack.defer(() => server.stop());
  const query: BenchServer["query"] = async (database, text) => {
    const client = new pg.Client(server.url(database));
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url: server.url,
    query,
    async recycleLog() {
      for (let file = 0; file < LOG_FILES; file++) {
        // A file without a record in it is not switched.
        await query("postgres", "select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()");
      }
      await query("postgres", "checkpoint");
    },
    async describe() {
      const names = ["server_version", "fsync", "synchronous_commit", "full_page_writes"];
      const [row = {}] = await query(
        "postgres",
        `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(", ")}`,
      );
      const { server_version, ...durability } = row;
      const weak = Object.entries(durability).find(([, value]) => value !== "on");
      if (weak !== undefined) throw new Error(`${weak[0]} is ${weak[1]}: such figures mean nothing`);
      return `PostgreSQL ${server_version}, ${Object.keys(durability).join(", ")} on`;
    },
  };
}

export type Counts = Readonly<Record<string, number>>;

/** Numbers by name, each a query of one value, all of one instant. */
export async function count(
  server: BenchServer,
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
