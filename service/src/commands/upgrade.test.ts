import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { connectTo, createDatabase, post, setup, type TestDatabase } from "../../test/harness.ts";
import { migrate, raiseDataFormat, readDataFormat } from "../postgres/migrate.ts";
import { DATA_FORMAT } from "../postgres/own-backend.ts";
import { openPool } from "../postgres/pool.ts";
import { Session } from "../postgres/session.ts";
import { VERSION } from "../primitives/version.ts";
import { checkMigrationsCommand, migrateCommand, readLocks } from "./migrate.ts";
import { inspectEssentials } from "./preflight.ts";

const NEXT = DATA_FORMAT + 1;
const MIGRATIONS = join(import.meta.dirname, "../../migrations");
/** Migrations of the first release ran only on empty databases, and do not state their locks. */
const STATED_FROM = { control: 7, cell: 24 } as const;

async function connectAs(database: TestDatabase, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.serviceUrl, application_name: name });
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

test("a new database has the newest data format, and migrate --finish changes nothing", async () => {
  const database = await createDatabase();
  const client = await connectTo(database);
  // Simulates an interrupted first migration, which leaves an old format. The constraint forbids format 0.
  await database.query(
    "alter table cell.identity drop constraint identity_data_format_positive; update cell.identity set data_format = 0",
  );
  await migrate(client);
  expect(await readDataFormat(client)).toBe(DATA_FORMAT);
  expect(await raiseDataFormat(client)).toEqual({ kind: "current", format: DATA_FORMAT });
});

test("an upgrade cannot be finished while a connected process cannot read the new format", async () => {
  const database = await createDatabase();
  const client = await connectTo(database);
  const old = await connectAs(database, `purser/8.12.3 format/${DATA_FORMAT} lane`);
  const older = await connectAs(database, "purser/7.0.0 lane");
  await connectAs(database, `purser/9.0.0 format/${NEXT} lane`);
  const one = { address: "127.0.0.1", connections: 1 };
  expect(await raiseDataFormat(client, NEXT)).toEqual({
    kind: "older_processes",
    processes: [
      { release: "7.0.0", ...one },
      { release: "8.12.3", ...one },
    ],
  });
  const finish = () =>
    migrateCommand({
      databaseUrl: database.url,
      grantTo: null,
      finish: true,
      dataFormat: NEXT,
      print: () => {},
    });
  await expect(finish()).rejects.toThrow(
    /older releases are still running: .*7\.0\.0 at 127\.0\.0\.1 \(1 connections\)/,
  );
  expect(await readDataFormat(client)).toBe(DATA_FORMAT);
  await Promise.all([old.end(), older.end()]);
  await expect
    .poll(() => raiseDataFormat(client, NEXT))
    .toEqual({ kind: "raised", from: DATA_FORMAT, to: NEXT });
});

test("every connection of a running service shows its release and data format, even if the URL sets an application name", async () => {
  const { database, service, project } = await setup({}, undefined, await databaseNamedBilling());
  const customer = { customerId: "a", feature: "b" };
  await post(`${service.url}/v1/check`, project.test.key.secret, customer);
  await post(`${service.url}/v1/consume`, project.test.key.secret, { ...customer, idempotencyKey: "k" });
  const connections = await database.query(
    "select application_name as name from pg_stat_activity where datname = current_database() and usename = 'purser_service'",
  );
  expect(connections.length).toBeGreaterThan(2);
  for (const { name } of connections)
    expect(name).toMatch(new RegExp(`^purser/${VERSION} format/${DATA_FORMAT} \\w+$`));
});

/** A database whose URL sets an application name, which connections must ignore. */
async function databaseNamedBilling(): Promise<TestDatabase> {
  const database = await createDatabase();
  return { ...database, serviceUrl: `${database.serviceUrl}?application_name=billing` };
}

test("after an upgrade is finished, an older release cannot connect, migrate or start", async () => {
  const database = await createDatabase();
  const client = await connectTo(database);
  await raiseDataFormat(client, NEXT);
  const options = { url: database.serviceUrl, name: "test", connectTimeoutMs: 5_000 };
  await expect(Session.open(options)).rejects.toThrow("data from a newer release");
  const pool = openPool({ ...options, sizeMax: 1, onIdleError: () => {} });
  onTestFinished(() => pool.end());
  await expect(pool.query("select 1")).rejects.toThrow("data from a newer release");
  const migration = migrateCommand({ databaseUrl: database.url, grantTo: null, print: () => {} });
  await expect(migration).rejects.toThrow(`the database has data format ${NEXT}`);
  expect(await inspectEssentials(client)).toContainEqual({
    level: "failure",
    about: "data format",
    text: `${NEXT} is newer than this release can read (${DATA_FORMAT}): upgrade Purser`,
  });
});

test("a process that was not connected when an upgrade was finished stops being ready", async () => {
  const { database, service } = await setup();
  const ready = async () => (await fetch(`${service.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  await database.query(`update cell.identity set data_format = ${NEXT}`);
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await expect.poll(ready).toBe(503);
});

test("an older release that connects while an upgrade is being finished waits and is then rejected", async () => {
  const database = await createDatabase();
  const finisher = await connectTo(database);
  await finisher.query("begin; lock table cell.identity in access exclusive mode");
  const opening = Session.open({ url: database.serviceUrl, name: "test", connectTimeoutMs: 10_000 });
  opening.catch(() => {});
  await expect
    .poll(() =>
      database.count("pg_stat_activity", "application_name like '%test' and wait_event_type = 'Lock'"),
    )
    .toBe(1);
  await finisher.query(`update cell.identity set data_format = ${NEXT}; commit`);
  await expect(opening).rejects.toThrow("data from a newer release");
});

test("migrate --check prints pending migrations and their locks, and changes nothing", async () => {
  const database = await createDatabase();
  const check = async () => {
    const lines: string[] = [];
    const isCurrent = await checkMigrationsCommand({
      databaseUrl: database.url,
      print: (line) => lines.push(line),
    });
    return { isCurrent, lines };
  };
  expect(await check()).toEqual({ isCurrent: true, lines: ["nothing to do: the database is up to date"] });
  await database.query(
    `alter table cell.identity drop column data_format;
     drop table cell.verifications;
     alter table cell.request_log drop column trace_id, drop column counts;
     alter table cell.ledger
     drop column items, drop column item, drop column member_id, drop column overrides_number, drop column hold_number,
     drop column uncovered;
     alter table cell.denials drop column items, drop column item, drop column member_id, drop column overrides_number;
     drop table cell.overrides, cell.hold_changes, cell.open_holds, cell.grant_moves;
     alter table cell.events drop column member_id;
     alter table cell.keyed_requests drop column details;
     drop index cell.customers_search, cell.customers_shown_name, cell.audit_collapsed, cell.audit_started;
     delete from cell.migrations where number >= 24`,
  );
  const { isCurrent, lines } = await check();
  expect(isCurrent).toBe(false);
  expect(lines).toEqual([
    "cell/000024-data-format.sql",
    expect.stringMatching(/^ {2}locks cell\.identity \(\d+ kB\) for milliseconds; /),
    "cell/000025-verifications.sql",
    "  locks no existing table",
    "cell/000026-trace-ids.sql",
    expect.stringMatching(/^ {2}locks cell\.request_log /),
    "cell/000027-pending-plans.sql",
    expect.stringMatching(/^ {2}locks cell\.assignments /),
    "cell/000028-items-in-the-ledger.sql",
    expect.stringMatching(/^ {2}locks cell\.ledger /),
    "cell/000029-items-of-denials.sql",
    expect.stringMatching(/^ {2}locks cell\.denials /),
    "cell/000030-details-of-answers.sql",
    expect.stringMatching(/^ {2}locks cell\.keyed_requests /),
    "cell/000031-members-in-the-ledger.sql",
    expect.stringMatching(/^ {2}locks cell\.ledger /),
    "cell/000032-members-of-denials.sql",
    expect.stringMatching(/^ {2}locks cell\.denials /),
    "cell/000033-members-of-events.sql",
    expect.stringMatching(/^ {2}locks cell\.events /),
    "cell/000034-overrides.sql",
    "  locks no existing table",
    "cell/000035-overrides-in-the-ledger.sql",
    expect.stringMatching(/^ {2}locks cell\.ledger /),
    "cell/000036-overrides-of-denials.sql",
    expect.stringMatching(/^ {2}locks cell\.denials /),
    "cell/000037-holds-in-the-ledger.sql",
    expect.stringMatching(/^ {2}locks cell\.ledger /),
    "cell/000038-holds.sql",
    "  locks no existing table",
    "cell/000039-api-keys-in-the-audit.sql",
    expect.stringMatching(/^ {2}locks cell\.audit /),
    "cell/000040-batches-in-the-log.sql",
    expect.stringMatching(/^ {2}locks cell\.request_log /),
    "cell/000041-overage.sql",
    expect.stringMatching(/^ {2}locks cell\.plan_allowances /),
    expect.stringMatching(/^ {2}locks cell\.ledger /),
    expect.stringMatching(/^ {2}locks cell\.meters /),
    "cell/000042-grant-moves.sql",
    "  locks no existing table",
    "cell/000043-parts-of-names.sql",
    expect.stringMatching(
      /^ {2}locks cell\.customers \(\d+ kB\) while it builds an index, .+; charges .+ fail with 503 overloaded .+ new customer/,
    ),
    "cell/000044-order-of-names.sql",
    expect.stringMatching(
      /^ {2}locks cell\.customers \(\d+ kB\) while it builds an index, .+; charges .+ fail with 503 overloaded .+ new customer/,
    ),
    "cell/000045-bulk-changes-in-the-audit.sql",
    expect.stringMatching(
      /^ {2}locks cell\.audit \(\d+ kB\) while it builds an index, .+; top-ups, plan changes, reversals .+ wait for it/,
    ),
    "cell/000046-webhooks.sql",
    expect.stringMatching(/^ {2}locks cell\.pools /),
    expect.stringMatching(/^ {2}locks cell\.catalogs /),
    expect.stringMatching(/^ {2}locks cell\.open_holds /),
    "cell/000047-repeated-top-ups.sql",
    "  locks no existing table",
  ]);
  expect(await database.count("cell.migrations", "number = 24")).toBe(0);
});

test.each(["control", "cell"] as const)("each new %s migration states the locks it takes", async (schema) => {
  const database = await createDatabase();
  const client = await connectTo(database);
  await database.query("drop schema control, cell cascade");
  const names = (await readdir(join(MIGRATIONS, schema))).sort();
  for (const name of names.slice(STATED_FROM[schema] - 1)) {
    const before = await copyMigrationsBefore(schema, name);
    await migrate(client, before);
    const sql = await readFile(join(MIGRATIONS, schema, name), "utf8");
    const stated = readLocks(sql).map(({ table }) => table);
    expect(stated.sort(), name).toEqual(await listLocks(client, sql));
  }
});

async function copyMigrationsBefore(schema: string, name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "purser-migrations-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await cp(MIGRATIONS, directory, { recursive: true });
  for (const file of await readdir(join(directory, schema)))
    if (file >= name) await rm(join(directory, schema, file));
  return directory;
}

/** Returns the existing tables that the SQL writes to or locks against writes. The SQL is rolled back. */
async function listLocks(client: pg.Client, sql: string): Promise<string[]> {
  const tables = `
    select n.nspname || '.' || c.relname as name, c.oid
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('control', 'cell') and c.relkind in ('r', 'p') and not c.relispartition`;
  const { rows: existing } = await client.query<{ name: string }>(tables);
  await client.query("begin");
  await client.query(sql);
  const { rows } = await client.query<{ name: string }>(`
    select distinct t.name
    from pg_locks as l join (${tables}) as t on t.oid = l.relation
    where l.pid = pg_backend_pid()
      and l.mode in ('RowExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    order by t.name`);
  await client.query("rollback");
  const old = new Set(existing.map(({ name }) => name));
  return rows.map(({ name }) => name).filter((name) => old.has(name));
}
