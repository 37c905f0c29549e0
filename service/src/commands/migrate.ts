import { followNumbers, followServer, migrate, setOrdinal } from "../postgres/migrate.ts";
import { grantToService } from "../postgres/privileges.ts";
import { connect } from "./connect.ts";

export async function migrateCommand(options: {
  databaseUrl: string;
  grantTo: string | null;
  /** Set: the service may delete expired keys. */
  idempotencyDays?: number | null;
  /** Range of customer numbers. Null: unchanged. */
  ordinal?: number | null;
  print: (line: string) => void;
}): Promise<void> {
  const client = await connect(options.databaseUrl);
  try {
    const applied = await migrate(client);
    for (const name of applied) options.print(`applied ${name}`);
    if (applied.length === 0) options.print("nothing to do: the database is up to date");
    if (options.ordinal != null && (await setOrdinal(client, options.ordinal)))
      options.print(`customer numbers start at ${options.ordinal} · 2^32`);
    if (await followServer(client))
      options.print(
        "this is another server: transaction IDs continue above the existing ones. Run purser verify --usage, and repair the days it lists",
      );
    const raised = await followNumbers(client);
    if (raised.length > 0) options.print(`advanced the sequences behind existing rows: ${raised.join(", ")}`);
    if (options.grantTo !== null) {
      const endsKeys = options.idempotencyDays != null;
      await grantToService(client, options.grantTo, { endsKeys });
      options.print(
        `granted the service's privileges to ${options.grantTo}, ` +
          (endsKeys
            ? "which runs with IDEMPOTENCY_DAYS and may delete expired keys"
            : "which runs without IDEMPOTENCY_DAYS and may not delete keys"),
      );
    }
  } finally {
    await client.end();
  }
}
