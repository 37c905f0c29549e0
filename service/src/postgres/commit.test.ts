import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { binariesOfTheTestServer } from "../../test/own-server.ts";
import { openTestPool } from "../../test/seed.ts";
import { startTemporaryServer, type TemporaryServer } from "../../test/temporary-server.ts";
import { OutcomeUnknown, RolledBack } from "./commit.ts";
import { Session } from "./session.ts";
import { statement } from "./statement.ts";
import { transaction } from "./transaction.ts";

// In these tests, every commit waits for a synchronous standby that does not exist.

const INSERT = statement("test.insert", "insert into notes (id) values ($1)");
const FAIL = statement("test.fail", "select 1 / $1::integer");

let server: TemporaryServer;
let url: string;
/** A connection whose commits do not wait for the standby. */
let admin: pg.Client;

beforeAll(async () => {
  server = await startTemporaryServer("standby", {
    binDirectory: await binariesOfTheTestServer(),
    settings: ["synchronous_standby_names=nobody", "log_min_messages=fatal"],
  });
  url = server.url("postgres");
  admin = new pg.Client(url);
  await admin.connect();
  await admin.query("set synchronous_commit = local");
  await admin.query("create table notes (id integer primary key)");
  // Connections read the data format, as in a migrated database.
  await admin.query("create schema cell; create table cell.identity as select 1 as data_format");
});

afterAll(async () => {
  await admin.end();
  await server.stop();
});

async function openSession(): Promise<Session> {
  const session = await Session.open({ url, name: "test", connectTimeoutMs: 1_000 });
  onTestFinished(() => session.destroy());
  return session;
}

/** Sends a transaction without waiting between its statements, as a lane does. */
async function send(session: Session, id: number): Promise<void> {
  const sent = [session.begin(), session.run(INSERT, [id]), session.commit()];
  await Promise.allSettled(sent);
  await Promise.all(sent);
}

/** Calls `action` (a function of pg_catalog) on the backend that waits for the standby. */
async function onWaiting(action: "pg_cancel_backend" | "pg_terminate_backend"): Promise<void> {
  const act = `select ${action}(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
  await expect.poll(async () => (await admin.query(act)).rowCount).toBe(1);
}

async function isVisible(id: number): Promise<boolean> {
  return (await admin.query("select from notes where id = $1", [id])).rowCount === 1;
}

test("a canceled wait for the standby gives an unknown outcome, although the server returns COMMIT", async () => {
  const pool = openTestPool(url);
  onTestFinished(() => pool.end());
  const work = expect(transaction(pool, (tx) => tx.run(INSERT, [1]))).rejects.toBeInstanceOf(OutcomeUnknown);
  await onWaiting("pg_cancel_backend");
  await work;
  expect(await isVisible(1)).toBe(true);
});

test("a canceled wait in a pipelined batch gives an unknown outcome", async () => {
  const session = await openSession();
  const work = expect(send(session, 2)).rejects.toBeInstanceOf(OutcomeUnknown);
  await onWaiting("pg_cancel_backend");
  await work;
  expect(await isVisible(2)).toBe(true);
});

test.each([
  ["hides warnings", "client_min_messages = error"],
  ["weakens commits", "synchronous_commit = local"],
])("the outcome is also unknown for a role whose setting %s", async (_, setting) => {
  await admin.query(`create role careless superuser login; alter role careless set ${setting}`);
  onTestFinished(async () => void (await admin.query("drop role careless")));
  const carelessUrl = url.replace("postgres@", "careless@");
  const session = await Session.open({ url: carelessUrl, name: "test", connectTimeoutMs: 1_000 });
  onTestFinished(() => session.destroy());
  const id = setting.length;
  const work = expect(send(session, id)).rejects.toBeInstanceOf(OutcomeUnknown);
  await onWaiting("pg_cancel_backend");
  await work;
});

test("terminating a waiting backend gives an unknown outcome and closes the session", async () => {
  const session = await openSession();
  const work = expect(send(session, 3)).rejects.toBeInstanceOf(OutcomeUnknown);
  await onWaiting("pg_terminate_backend");
  await work;
  await expect.poll(() => session.isOpen).toBe(false);
});

test("after 5 s a lane stops waiting: the outcome is unknown and the session is closed", async () => {
  const session = await openSession();
  const startedAtMs = performance.now();
  await expect(send(session, 4)).rejects.toBeInstanceOf(OutcomeUnknown);
  const tookMs = performance.now() - startedAtMs;
  expect(tookMs).toBeGreaterThan(4_500);
  expect(tookMs).toBeLessThan(7_000);
  await expect.poll(() => session.isOpen).toBe(false);
});

test("a failed statement in a pipelined batch rolls back all other statements", async () => {
  const session = await openSession();
  const [begun, before, ...answers] = await Promise.allSettled([
    session.begin(),
    session.run(INSERT, [5]),
    session.run(FAIL, [0]),
    session.run(INSERT, [6]),
    session.commit(),
  ]);
  expect([begun.status, before.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(answers.map((answer) => answer.status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(answers[2]).toMatchObject({ reason: expect.any(RolledBack) });
  expect([await isVisible(5), await isVisible(6)]).toEqual([false, false]);
  expect(session.isOpen).toBe(true);
});
