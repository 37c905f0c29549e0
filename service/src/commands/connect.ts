import pg from "pg";
import { claimBackend } from "../postgres/own-backend.ts";
import { openPool, type Pool } from "../postgres/pool.ts";

/** Connects a command to the primary, without a statement timeout. Fails with a readable reason. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    // Migrations and diagnostics also run on a database that is not migrated.
    await claimBackend(client, { name: "command", isMigrated: false });
  } catch (error) {
    await client.end().catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot use the database in DATABASE_URL: ${reason}`, { cause: error });
  }
  return client;
}

export async function withPool<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url: databaseUrl, name: "command", sizeMax: 1, onIdleError: () => {} });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
