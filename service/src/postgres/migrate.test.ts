import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { connectTo, createDatabase, type TestDatabase } from "../../test/harness.ts";
import { MigrationRefused, migrate, readMigrationState } from "./migrate.ts";

async function emptyDatabase(): Promise<{ database: TestDatabase; client: pg.Client }> {
  const database = await createDatabase();
  await database.query("drop schema control, cell cascade");
  return { database, client: await connectTo(database) };
}

/** Writes migrations as files: `{"cell/000001-one.sql": "create …"}`. */
async function writeMigrations(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "purser-migrations-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await Promise.all(["control", "cell"].map((schema) => mkdir(join(directory, schema))));
  await Promise.all(Object.entries(files).map(([name, sql]) => writeFile(join(directory, name), sql)));
  return directory;
}

const ONE = { "control/000001-one.sql": "create table control.one ();" };
const TWO = { ...ONE, "cell/000001-two.sql": "create table cell.two ();" };
const THREE = { ...TWO, "cell/000002-three.sql": "create table cell.three ();" };
const THREE_NAMES = ["control/000001-one.sql", "cell/000001-two.sql", "cell/000002-three.sql"];

test("a fresh database gets every migration, and a second run does nothing", async () => {
  const { client } = await emptyDatabase();
  expect((await readMigrationState(client)).kind).toBe("behind");
  const applied = await migrate(client);
  expect(applied[0]).toMatch(/^control\/000001-/);
  expect(applied.at(-1)).toMatch(/^cell\/\d{6}-/);
  expect(await readMigrationState(client)).toEqual({ kind: "current" });
  expect(await migrate(client)).toEqual([]);
});

test("a new release applies only missing migrations", async () => {
  const { client } = await emptyDatabase();
  expect(await migrate(client, await writeMigrations(TWO))).toEqual(THREE_NAMES.slice(0, 2));
  expect(await readMigrationState(client, await writeMigrations(THREE))).toMatchObject({
    kind: "behind",
    pending: [{ schema: "cell", number: 2, name: "000002-three.sql" }],
  });
  expect(await migrate(client, await writeMigrations(THREE))).toEqual(THREE_NAMES.slice(2));
});

test("two concurrent migrators both succeed, and each file is applied once", async () => {
  const { database, client } = await emptyDatabase();
  const other = await connectTo(database);
  const slow = { ...THREE, "cell/000001-two.sql": "create table cell.two (); select pg_sleep(0.2);" };
  const directory = await writeMigrations(slow);
  const applied = await Promise.all([migrate(client, directory), migrate(other, directory)]);
  expect(applied.flat().sort()).toEqual([...THREE_NAMES].sort());
  expect(await database.count("cell.migrations")).toBe(2);
  expect(await readMigrationState(client, directory)).toEqual({ kind: "current" });
});

test("the real migrations can run concurrently", async () => {
  const { database, client } = await emptyDatabase();
  const applied = await Promise.all([migrate(client), migrate(await connectTo(database))]);
  const rows = (await database.count("control.migrations")) + (await database.count("cell.migrations"));
  expect(applied.flat()).toHaveLength(rows);
  expect(new Set(applied.flat()).size).toBe(rows);
});

test("a migration file changed after it was applied is rejected, and no other file is applied", async () => {
  const { database, client } = await emptyDatabase();
  await migrate(client, await writeMigrations(TWO));
  const changed = await writeMigrations({
    ...THREE,
    "cell/000001-two.sql": "create table cell.two (id integer);",
  });
  await expect(migrate(client, changed)).rejects.toThrow(MigrationRefused);
  await expect(migrate(client, changed)).rejects.toThrow("cell/000001-two.sql was changed");
  await expect(readMigrationState(client, changed)).rejects.toThrow(MigrationRefused);
  expect(await database.count("cell.migrations")).toBe(1);
});

test("a database newer than the files is rejected, and its state is reported as ahead", async () => {
  const { client } = await emptyDatabase();
  await migrate(client, await writeMigrations(THREE));
  const older = await writeMigrations(TWO);
  await expect(migrate(client, older)).rejects.toThrow(/cell migration 2, which is newer than this release/);
  expect(await readMigrationState(client, older)).toEqual({ kind: "ahead", name: "cell 2" });
});

test("a failed migration is rolled back, and can run again after it is fixed", async () => {
  const { database, client } = await emptyDatabase();
  const broken = { ...THREE, "cell/000002-three.sql": "create table cell.three (); select 1 / 0;" };
  await expect(migrate(client, await writeMigrations(broken))).rejects.toMatchObject({ code: "22012" });
  expect(
    await database.query(
      "select to_regclass('cell.two') is null as two, to_regclass('cell.three') is null as three",
    ),
  ).toEqual([{ two: false, three: true }]);
  expect(await migrate(client, await writeMigrations(THREE))).toEqual(THREE_NAMES.slice(2));
});

test("if the service holds a lock, the migration fails within seconds instead of blocking requests", async () => {
  const { database, client } = await emptyDatabase();
  await migrate(client, await writeMigrations(TWO));
  const holder = await connectTo(database);
  await holder.query("begin; lock table cell.two in access share mode");
  const altering = await writeMigrations({
    ...TWO,
    "cell/000002-three.sql": "alter table cell.two add column id integer;",
  });
  await expect(migrate(client, altering)).rejects.toMatchObject({ code: "55P03" });
  await holder.query("rollback");
  expect(await migrate(client, altering)).toEqual(["cell/000002-three.sql"]);
});

test("a gap in the migration numbers is rejected before any migration is applied", async () => {
  const { database, client } = await emptyDatabase();
  const gap = await writeMigrations({ ...ONE, "control/000003-three.sql": "create table control.three ();" });
  await expect(migrate(client, gap)).rejects.toThrow("control/000003-three.sql is out of sequence");
  expect(await database.query("select to_regclass('control.one') as one")).toEqual([{ one: null }]);
});
