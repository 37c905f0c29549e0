import pg from "pg";
import { claimBackend } from "../postgres/own-backend.ts";
import { openPool, type Pool } from "../postgres/pool.ts";

/** A connection for a command to the primary, with what is wrong where there is none. No statement of it is timed out. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "purser command",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await claimBackend(client);
  } catch (error) {
    await client.end().catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot use the database of DATABASE_URL: ${reason}`, { cause: error });
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
