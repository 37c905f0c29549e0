import pg from "pg";

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
