import { expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../test/harness.ts";
import { OutcomeUnknown, RolledBack } from "./commit.ts";
import { type OpenPool, openPool } from "./pool.ts";
import { statement } from "./statement.ts";
import { single, snapshot, transaction } from "./transaction.ts";

const INSERT = statement("test.insert", "insert into notes (id) values ($1)");
const FAIL = statement("test.fail", "select 1 / $1::integer");
const PID = statement("test.pid", "select pg_backend_pid()");

type Notes = { database: TestDatabase; pool: OpenPool; idleErrors: Error[] };

async function openNotes(): Promise<Notes> {
  const database = await createDatabase();
  await database.query("create table notes (id integer primary key deferrable initially deferred)");
  const idleErrors: Error[] = [];
  const onIdleError = (error: Error): void => void idleErrors.push(error);
  const pool = openPool({ url: database.url, name: "test", sizeMax: 1, onIdleError });
  onTestFinished(() => pool.end());
  return { database, pool, idleErrors };
}

const terminate = ({ database }: Notes, pid: unknown) =>
  database.query("select pg_terminate_backend($1, 5000)", [pid]);

test("the result of a transaction is committed", async () => {
  const { database, pool } = await openNotes();
  const result = await transaction(pool, async (tx) => (await tx.run(INSERT, [1])).rowCount);
  expect([result, await database.count("notes")]).toEqual([1, 1]);
});

test("after a failed statement, the transaction is rolled back and the connection reused", async () => {
  const { database, pool } = await openNotes();
  const pidBefore = await single(pool, async (tx) => (await tx.run(PID)).rows[0]?.[0]);
  const work = transaction(pool, async (tx) => {
    await tx.run(INSERT, [1]);
    await tx.run(FAIL, [0]);
  });
  await expect(work).rejects.toMatchObject({ code: "22012" });
  expect(await database.count("notes")).toBe(0);
  expect(await single(pool, async (tx) => (await tx.run(PID)).rows[0]?.[0])).toBe(pidBefore);
});

test("after an exception in the work, the transaction is rolled back and the connection reused", async () => {
  const { database, pool } = await openNotes();
  const pidBefore = await single(pool, async (tx) => (await tx.run(PID)).rows[0]?.[0]);
  const work = transaction(pool, async (tx) => {
    await tx.run(INSERT, [1]);
    throw new Error("changed my mind");
  });
  await expect(work).rejects.toThrow("changed my mind");
  await transaction(pool, (tx) => tx.run(INSERT, [2]));
  expect(await database.query("select id from notes")).toEqual([{ id: 2 }]);
  expect(await single(pool, async (tx) => (await tx.run(PID)).rows[0]?.[0])).toBe(pidBefore);
});

test("work that continues after a failure cannot reach a later transaction", async () => {
  const { database, pool } = await openNotes();
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let straggler: Promise<unknown> = Promise.resolve();
  const work = transaction(pool, async (tx) => {
    straggler = gate.then(() => tx.run(INSERT, [1]));
    straggler.catch(() => {});
    throw new Error("changed my mind");
  });
  await expect(work).rejects.toThrow("changed my mind");
  await transaction(pool, async (tx) => {
    goOn();
    await expect(straggler).rejects.toThrow("its transaction ended");
    await tx.run(INSERT, [2]);
  });
  expect(await database.query("select id from notes")).toEqual([{ id: 2 }]);
});

test("the commit of an aborted transaction is an error", async () => {
  const { database, pool } = await openNotes();
  const work = transaction(pool, async (tx) => {
    await tx.run(INSERT, [1]);
    await tx.run(FAIL, [0]).catch(() => {});
    return "done";
  });
  await expect(work).rejects.toBeInstanceOf(RolledBack);
  expect(await database.count("notes")).toBe(0);
});

test("a commit rejected by the server has a known outcome", async () => {
  const { database, pool } = await openNotes();
  await database.query("insert into notes (id) values (1)");
  // The constraint is deferred, so the commit fails.
  await expect(transaction(pool, (tx) => tx.run(INSERT, [1]))).rejects.toMatchObject({ code: "23505" });
  expect(pool.idleCount).toBe(1);
});

test("a connection lost during the commit gives an unknown outcome", async () => {
  const { database, pool } = await openNotes();
  await database.query(`
    create function die() returns trigger language plpgsql
    as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`);
  await database.query(`
    create constraint trigger die after insert on notes deferrable initially deferred
    for each row execute function die()`);
  await expect(transaction(pool, (tx) => tx.run(INSERT, [1]))).rejects.toBeInstanceOf(OutcomeUnknown);
  expect(pool.totalCount).toBe(0);
});

test("a client whose backend was terminated does not return to the pool, and the next transaction works", async () => {
  const notes = await openNotes();
  const { database, pool } = notes;
  const work = transaction(pool, async (tx) => {
    await tx.run(INSERT, [1]);
    await terminate(notes, (await tx.run(PID)).rows[0]?.[0]);
    await tx.run(INSERT, [2]);
  });
  await expect(work).rejects.toThrow();
  expect(pool.totalCount).toBe(0);
  await transaction(pool, (tx) => tx.run(INSERT, [3]));
  expect(await database.query("select id from notes")).toEqual([{ id: 3 }]);
});

test("a broken idle connection is reported, and later transactions work", async () => {
  const notes = await openNotes();
  const { database, pool, idleErrors } = notes;
  await terminate(notes, await single(pool, async (tx) => (await tx.run(PID)).rows[0]?.[0]));
  await expect.poll(() => idleErrors).toHaveLength(1);
  await transaction(pool, (tx) => tx.run(INSERT, [1]));
  expect(await database.count("notes")).toBe(1);
});

test("all reads of a snapshot see the same instant, writes are rejected, and the connection is reused", async () => {
  const { database, pool } = await openNotes();
  const count = statement("test.count", "select count(*)::integer from notes");
  const counts = await snapshot(pool, async (tx) => {
    const before = (await tx.run(count)).rows[0]?.[0];
    await database.query("insert into notes (id) values (1)");
    return [before, (await tx.run(count)).rows[0]?.[0]];
  });
  expect(counts).toEqual([0, 0]);
  await expect(snapshot(pool, (tx) => tx.run(INSERT, [2]))).rejects.toMatchObject({ code: "25006" });
  expect(await transaction(pool, async (tx) => (await tx.run(INSERT, [2])).rowCount)).toBe(1);
});

test("all reads of a snapshot share the timeout of one statement, and the next snapshot gets a new timeout", async () => {
  const { pool } = await openNotes();
  const sleep = statement("test.sleep", "select pg_sleep(1.5)");
  const startedMs = performance.now();
  const work = snapshot(pool, async (tx) => {
    for (let i = 0; i < 4; i++) await tx.run(sleep);
  });
  await expect(work).rejects.toMatchObject({ code: "57014" });
  expect(performance.now() - startedMs).toBeLessThan(4_400);
  await snapshot(pool, (tx) => tx.run(sleep));
}, 20_000);
