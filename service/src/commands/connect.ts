import pg from "pg";
import { openPool, type Pool } from "../postgres/pool.ts";

/** A plain connection for a command, with a word on what to do when there is none. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "purser command",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot connect to the database of DATABASE_URL: ${reason}`, { cause: error });
  }
  return client;
}

/** A pool for as long as a command needs one. */
export async function withPool<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url: databaseUrl, name: "purser command", sizeMax: 1, onIdleError: () => {} });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
