import pg from "pg";
import { expect, inject, test } from "vitest";
import { connectTo, createTestProject } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";
import { MissingData } from "../postgres/missing-data.ts";
import { single } from "../postgres/transaction.ts";
import { reportDatabaseErrors } from "./database-trouble.ts";

test("while the database is unreachable, reads and writes return 503, not 500", async () => {
  const { manage, database } = await setupManage();
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client(`postgres://postgres@127.0.0.1:${inject("postgresPort")}/postgres`);
  await admin.connect();
  try {
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    const read = await manage("GET", "customers");
    expect([read.status, read.body["code"], read.headers.get("retry-after")]).toEqual([
      503,
      "unavailable",
      "1",
    ]);
    const write = await manage("PUT", "customers/c", { body: {} });
    expect([write.status, write.body["code"]]).toEqual([503, "unavailable"]);
  } finally {
    await admin.query(`alter database ${name} allow_connections true`);
    await admin.end();
  }
  expect((await manage("GET", "customers")).status).toBe(200);
});

test("adding credits to a wallet that stays locked returns 503 `overloaded` and adds nothing", async () => {
  const { manage, database } = await setupManage();
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query("begin; select from cell.wallets for update");
  const reply = await manage("POST", "customers/ada/credits", { body: { credits: 5, kind: "manual" } });
  await holder.end();
  expect([reply.status, reply.body["code"]]).toEqual([503, "overloaded"]);
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 100 }] });
}, 15_000);

test("bulk changes that wait for locks leave connections free for other projects", async () => {
  const { manage, assign, database } = await setupManage();
  const { projectId } = await createTestProject(database, "Other");
  const customers = Array.from({ length: 8 }, (_, index) => `c${index}`);
  for (const customerId of customers) await assign(customerId, "pro");
  const holder = await connectTo(database);
  await holder.query("begin; select from cell.wallets for update");
  let finished = 0;
  const slow = [customers.slice(0, 4), customers.slice(4)].map(async (customerIds) => {
    const { body } = await manage("POST", "bulk-blocks", { body: { customerIds, blocked: true } });
    finished += 1;
    return body["changed"];
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const startMs = performance.now();
  const other = await manage("GET", `/manage/v1/projects/${projectId}/live/customers`);
  expect([other.status, finished]).toEqual([200, 0]);
  // Less than the lock timeout of two seconds, so the call did not wait for a bulk change's connection.
  expect(performance.now() - startMs).toBeLessThan(1_000);
  await holder.query("rollback");
  expect(await Promise.all(slow)).toEqual([4, 4]);
}, 15_000);

test("rejected transactions return their connections to the pool", async () => {
  const { manage, database } = await setupManage();
  const backends = () =>
    database.query(
      `select pid from pg_stat_activity
       where application_name like 'purser/% manage' and datname = current_database() order by backend_start`,
    );
  await manage("GET", "customers");
  const before = await backends();
  expect(before.length).toBeGreaterThan(0);
  for (let round = 0; round < 20; round++)
    expect((await manage("GET", "usage?customerId=nobody")).status).toBe(404);
  expect(await backends()).toEqual(expect.arrayContaining(before));
});

test("a request whose cached data stays missing fails with `overloaded`", async () => {
  const { cell } = await setupManage();
  let fetches = 0;
  class Endless extends MissingData {
    readonly what = "endless";
    async fetch(): Promise<void> {
      fetches += 1;
    }
  }
  const work = reportDatabaseErrors(() =>
    single(cell, async () => {
      throw new Endless();
    }),
  );
  await expect(work).rejects.toMatchObject({ code: "overloaded" });
  expect(fetches).toBeLessThanOrEqual(200);
});
