import { followNumbers, followServer, migrate, setOrdinal } from "../postgres/migrate.ts";
import { grantToService } from "../postgres/privileges.ts";
import { connect } from "./connect.ts";

export async function migrateCommand(options: {
  databaseUrl: string;
  grantTo: string | null;
  /** With it the service may delete expired keys. */
  idempotencyDays?: number | null;
  /** Which range customer numbers come from; null: as it is. */
  ordinal?: number | null;
  print: (line: string) => void;
}): Promise<void> {
  const client = await connect(options.databaseUrl);
  try {
    const applied = await migrate(client);
    for (const name of applied) options.print(`applied ${name}`);
    if (applied.length === 0) options.print("nothing to do: the database is current");
    if (options.ordinal != null && (await setOrdinal(client, options.ordinal)))
      options.print(`customer numbers begin at ${options.ordinal} · 2^32`);
    if (await followServer(client))
      options.print(
        "this is another server: transaction numbers go on above those there are. Run purser verify --usage, and repair the days it names",
      );
    const raised = await followNumbers(client);
    if (raised.length > 0)
      options.print(`new rows are numbered above those there are, which came without: ${raised.join(", ")}`);
    if (options.grantTo !== null) {
      const endsKeys = options.idempotencyDays != null;
      await grantToService(client, options.grantTo, { endsKeys });
      options.print(
        `granted the service's privileges to ${options.grantTo}, which runs with ` +
          (endsKeys
            ? "IDEMPOTENCY_DAYS and may delete expired keys"
            : "no IDEMPOTENCY_DAYS and may not delete keys"),
      );
    }
  } finally {
    await client.end();
  }
}
