import pg from "pg";
import { expect, test } from "vitest";
import { connectTo, createDatabase } from "../../test/harness.ts";
import { freePort } from "./free-port.ts";
import { openPool } from "./pool.ts";
import { decodeSqlError, isOutOfReach, type SqlFailure } from "./sql-error.ts";

const TABLE = `
  create table notes (
    id integer constraint notes_pkey primary key,
    amount smallint not null constraint notes_amount_range check (amount >= 0)
  )`;

/** Decodes the error of a rejected promise. */
async function decode(work: Promise<unknown>): Promise<SqlFailure | "no error"> {
  return work.then(() => "no error" as const, decodeSqlError);
}

const badRow = (constraint: string | null) => ({
  kind: "bad_row",
  constraint,
});

test.each([
  ["a duplicate key", "insert into notes values (1, 1)", { kind: "conflict", constraint: "notes_pkey" }],
  ["a broken check", "insert into notes values (2, -1)", badRow("notes_amount_range")],
  ["a missing value", "insert into notes values (2, null)", badRow(null)],
  ["a value out of range", "insert into notes values (2, 70000)", badRow(null)],
  ["text that is not a number", "select 'x'::integer", badRow(null)],
  ["JSON that jsonb cannot hold", `select '"\\u0000"'::jsonb`, badRow(null)],
  ["a statement that takes too long", "set statement_timeout = 20; select pg_sleep(5)", { kind: "busy" }],
  ["a demoted primary", "begin read only; insert into notes values (2, 1)", { kind: "lost" }],
  ["a syntax error", "selec 1", { kind: "bug" }],
  ["a table that does not exist", "select from nothing", { kind: "bug" }],
  [
    "a missing privilege",
    "set role purser_service; delete from cell.events",
    { kind: "bad_row", constraint: null },
  ],
])("%s", async (_, sql, expected) => {
  const database = await createDatabase();
  await database.query(TABLE);
  await database.query("insert into notes values (1, 1)");
  const client = await connectTo(database);
  expect(await decode(client.query(sql))).toEqual(expected);
});

test("a locked table is reported as busy", async () => {
  const database = await createDatabase();
  await database.query(TABLE);
  const [holder, waiter] = [await connectTo(database), await connectTo(database)];
  await holder.query("begin; lock table notes");
  expect(await decode(waiter.query("begin; lock table notes nowait"))).toEqual({ kind: "busy" });
  await waiter.query("rollback");
  expect(await decode(waiter.query("set lock_timeout = 20; select from notes"))).toEqual({ kind: "busy" });
});

test("a deadlock is reported as a conflict", async () => {
  const database = await createDatabase();
  await database.query(TABLE);
  await database.query("insert into notes values (1, 1), (2, 1)");
  const [a, b] = [await connectTo(database), await connectTo(database)];
  for (const client of [a, b]) await client.query("set deadlock_timeout = 50; begin");
  await a.query("update notes set amount = 2 where id = 1");
  await b.query("update notes set amount = 2 where id = 2");
  const failures = await Promise.all([
    decode(a.query("update notes set amount = 3 where id = 2").then(() => a.query("commit"))),
    decode(b.query("update notes set amount = 3 where id = 1").then(() => b.query("commit"))),
  ]);
  expect(failures).toContainEqual({ kind: "conflict", constraint: null });
  expect(failures).toContain("no error");
});

test("a row changed since the snapshot is reported as a conflict", async () => {
  const database = await createDatabase();
  await database.query(TABLE);
  await database.query("insert into notes values (1, 1)");
  const client = await connectTo(database);
  await client.query("begin isolation level repeatable read; select from notes");
  await database.query("update notes set amount = 2");
  const work = client.query("update notes set amount = 3");
  expect(await decode(work)).toEqual({ kind: "conflict", constraint: null });
});

test("a terminated backend is reported as lost", async () => {
  const database = await createDatabase();
  const client = await connectTo(database);
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const work = decode(client.query("select pg_sleep(10)"));
  await database.query("select pg_terminate_backend($1)", [rows[0].pid]);
  expect(await work).toEqual({ kind: "lost" });
  expect(await decode(client.query("select 1"))).toEqual({ kind: "lost" });
});

test("a database that allows no connections and a missing server are reported as lost", async () => {
  const database = await createDatabase();
  const name = (await database.query("select current_database() as name"))[0]?.["name"];
  await database.query(`alter database ${name} connection limit 0`);
  expect(await decode(new pg.Client(database.serviceUrl).connect())).toEqual({ kind: "lost" });
  const nowhere = new pg.Client(`postgres://postgres@127.0.0.1:${await freePort()}/postgres`);
  expect(await decode(nowhere.connect())).toEqual({ kind: "lost" });
});

test("a query that exceeds the client's timeout is reported as lost", async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url, query_timeout: 50 });
  await client.connect();
  expect(await decode(client.query("select pg_sleep(1)"))).toEqual({ kind: "lost" });
  await client.end();
});

test("a server without free connections counts as out of reach, and a slow server does not", async () => {
  const database = await createDatabase();
  const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);
  const nowhere = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
  expect(isOutOfReach(await failureOf(new pg.Client(nowhere).connect()))).toBe(true);

  const pool = openPool({ url: database.url, name: "test", sizeMax: 1, onIdleError: () => {} });
  const client = await pool.connect();
  const full = await failureOf(pool.connect());
  expect([String(full), isOutOfReach(full)]).toEqual([
    "Error: timeout exceeded when trying to connect",
    false,
  ]);
  const slow = await failureOf(client.query("set statement_timeout = 50; select pg_sleep(1)"));
  expect(isOutOfReach(slow)).toBe(false);
  const patience = { text: "select pg_sleep(1)", query_timeout: 20 };
  const unanswered = await failureOf(client.query(patience));
  expect([String(unanswered), isOutOfReach(unanswered)]).toEqual(["Error: Query read timeout", false]);
  client.release(true);
  await pool.end();

  const [row] = await database.query("select current_database() as name");
  await database.query(`alter database ${row?.["name"]} connection limit 0`);
  expect(isOutOfReach(await failureOf(new pg.Client(database.serviceUrl).connect()))).toBe(true);
});
