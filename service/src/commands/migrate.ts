import type { Client } from "pg";
import {
  followNumbers,
  followServer,
  type Migration,
  migrate,
  raiseDataFormat,
  readDataFormat,
  readMigrationState,
  setOrdinal,
} from "../postgres/migrate.ts";
import { DATA_FORMAT } from "../postgres/own-backend.ts";
import { grantToService } from "../postgres/privileges.ts";
import { connect } from "./connect.ts";

type Print = (line: string) => void;

export async function migrateCommand(options: {
  databaseUrl: string;
  grantTo: string | null;
  /** If set, the service is granted the privilege to delete expired keys. */
  idempotencyDays?: number | null;
  /** Number of this database, which sets its range of customer numbers. If null, the range does not change. */
  ordinal?: number | null;
  /** Allows stored data that the previous release cannot read. */
  finish?: boolean;
  /** The data format to raise to. Default: the newest format of this release. */
  dataFormat?: number;
  print: Print;
}): Promise<void> {
  const client = await connect(options.databaseUrl);
  try {
    await refuseNewerData(client);
    const applied = await migrate(client);
    for (const name of applied) options.print(`applied ${name}`);
    if (applied.length === 0) options.print("nothing to do: the database is up to date");
    if (options.ordinal != null && (await setOrdinal(client, options.ordinal)))
      options.print(`customer numbers start at ${options.ordinal} · 2^32`);
    if (await followServer(client))
      options.print(
        "this is a different database server: transaction IDs continue above the existing ones. Run purser verify --usage, and repair the days it lists",
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
            : "which runs without IDEMPOTENCY_DAYS and is not allowed to delete keys"),
      );
    }
    if (options.finish) await finishUpgrade(client, options.print, options.dataFormat);
  } finally {
    await client.end();
  }
}

/** Rejects data in a newer format, even if the newer release added no migration. */
async function refuseNewerData(client: Client): Promise<void> {
  const format = await readDataFormat(client);
  if (format !== null && format > DATA_FORMAT)
    throw new Error(`the database has data format ${format}, which this release cannot read: upgrade Purser`);
}

async function finishUpgrade(client: Client, print: Print, dataFormat = DATA_FORMAT): Promise<void> {
  const outcome = await raiseDataFormat(client, dataFormat);
  switch (outcome.kind) {
    case "current":
      return print(`the data format is ${outcome.format}, the newest of this release`);
    case "raised":
      return print(
        `raised the data format from ${outcome.from} to ${outcome.to}: older releases can no longer run`,
      );
    case "older_processes": {
      const found = outcome.processes.map(
        ({ release, address, connections }) => `${release} at ${address} (${connections} connections)`,
      );
      throw new Error(
        `older releases are still running: ${found.join(", ")}. Stop them, then repeat the command`,
      );
    }
  }
}

/** Prints the pending migrations and the locks they take. Changes nothing. Returns true if none are pending. */
export async function checkMigrationsCommand(options: {
  databaseUrl: string;
  print: Print;
}): Promise<boolean> {
  const client = await connect(options.databaseUrl);
  try {
    const state = await readMigrationState(client);
    switch (state.kind) {
      case "current":
        options.print("nothing to do: the database is up to date");
        return true;
      case "ahead":
        options.print(`the database is newer than this release (${state.name})`);
        return true;
      case "behind":
        for (const migration of state.pending) await describeMigration(client, migration, options.print);
        return false;
    }
  } finally {
    await client.end();
  }
}

async function describeMigration(client: Client, migration: Migration, print: Print): Promise<void> {
  print(`${migration.schema}/${migration.name}`);
  const locks = readLocks(migration.sql);
  if (locks.length === 0) print("  locks no existing table");
  const isBuilt = await hasIndexes(client, migration);
  for (const { table, duration: announced } of locks) {
    const duration = announced === "index" && isBuilt ? "built" : announced;
    const { rows } = await client.query(
      "select pg_size_pretty(pg_total_relation_size(to_regclass($1))) as size",
      [table],
    );
    const waiting = duration === "index" ? `; ${WAITING[table] ?? "writes to it wait"}` : "";
    print(`  locks ${table} (${rows[0]?.size ?? "does not exist yet"}) ${DURATION[duration]}${waiting}`);
  }
}

const DURATION = {
  brief: "for milliseconds; waits at most 3 s for running transactions, then fails; you can repeat it",
  scan: "while it reads the table, about 1 s per 100 MB",
  index: "while it builds an index, about 10 s per 100 MB",
  built: "for milliseconds, because its indexes are already built",
} as const;

/** Whether all indexes that a migration builds already exist and are valid. */
async function hasIndexes(client: Client, { schema, sql }: Migration): Promise<boolean> {
  const names = [...sql.matchAll(/create index if not exists (\w+)/g)].map(([, name]) => `${schema}.${name}`);
  const { rows } = await client.query(
    `select from pg_index
     where indexrelid in (select to_regclass(n.name) from unnest($1::text[]) as n (name)) and indisvalid`,
    [names],
  );
  return names.length > 0 && rows.length === names.length;
}

/** The effect on requests while an index of the table is built. */
const WAITING: Readonly<Record<string, string>> = {
  "cell.customers":
    "charges and events fail with 503 overloaded if their batch contains a new customer; " +
    "you can build the index beforehand (docs/operations/upgrade.md)",
  "cell.audit":
    "top-ups, plan changes, reversals and all other audited changes wait for it; charges do not; " +
    "you can build the index beforehand (docs/operations/upgrade.md)",
};

/** Reads which tables a migration locks against writes. Its header lists them, such as `-- Locks: cell.events (brief)`. */
export function readLocks(sql: string): { table: string; duration: "brief" | "scan" | "index" }[] {
  const [, header = ""] = /^-- Locks: (.+)$/m.exec(sql) ?? [];
  return [...header.matchAll(/([a-z_.]+) \((brief|scan|index)\)/g)].map(([, table = "", duration]) => ({
    table,
    duration: duration === "scan" || duration === "index" ? duration : "brief",
  }));
}
