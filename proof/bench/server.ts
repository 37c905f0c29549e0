import pg from "pg";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";

export type BenchServer = {
  readonly url: (database: string) => string;
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
};

/** A fresh PostgreSQL with durability on, and memory and log sized as any installation would; nothing is analyzed by hand. */
export async function openBenchServer(): Promise<BenchServer> {
  const server = await startTemporaryServer("bench", {
    settings: ["shared_buffers=1GB", "max_wal_size=8GB", "max_connections=200"],
  });
  return {
    url: server.url,
    async query(database, text) {
      const client = new pg.Client(server.url(database));
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    stop: () => server.stop(),
  };
}

export async function countRows(server: BenchServer, database: string, table: string): Promise<number> {
  const [row] = await server.query(database, `select count(*)::integer as n from ${table}`);
  return Number(row?.["n"]);
}
