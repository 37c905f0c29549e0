import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sendFile } from "../../test/imports.ts";
import { type Managed, setupManage } from "../../test/manage.ts";
import { startOwnServer, startStandby } from "../../test/own-server.ts";

const TOP_UP = { kind: "manual", credits: 100 };

type Reply = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** Makes one acknowledged write of each kind. */
async function writeOneOfEach(managed: Managed): Promise<Reply[]> {
  const { consume, manage } = managed;
  const made = await manage("POST", "api-keys", { body: { name: "Leaked", scopes: ["check"] } });
  const charge = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "charge" });
  const { apiKey } = made.body as { apiKey: { id: string } };
  // These are the last writes.
  return [
    await manage("POST", "customers/ada/credits", { body: { ...TOP_UP, reference: "top-up" } }),
    await manage("POST", `customers/ada/consumes/${charge.body["consumeId"]}/reverse`, { body: {} }),
    await manage("POST", "customers/bob/plan", { body: { plan: "pro" } }),
    await sendFile(managed, "customerId,credits,reference\nimported,40,opening\n"),
    await manage("POST", `api-keys/${apiKey.id}/revoke`),
  ];
}

const STORED = `
  select
    (select count(*)::integer from cell.grants where reference = 'top-up') as top_ups,
    (select count(*)::integer from cell.ledger where kind = 5) as reversals,
    (select count(*)::integer from cell.customers where customer_id in ('bob', 'imported')) as customers,
    (select count(*)::integer from control.api_keys where revoked_at is not null) as revocations`;

test("every acknowledged management write survives a crash, even if the database sets synchronous_commit to off", async () => {
  const server = await startOwnServer(["synchronous_commit=off", "wal_writer_delay=10s"]);
  const { database } = server;
  await database.query("alter database purser_template set synchronous_commit = off");
  const managed = await setupManage({}, database);
  const replies = await writeOneOfEach(managed);
  await server.crash();
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await server.restart();
  expect(await database.query(STORED)).toEqual([{ top_ups: 1, reversals: 1, customers: 2, revocations: 1 }]);
});

test("while the synchronous standby is down, a top-up is not acknowledged, and the number of waiting commits stays bounded", async () => {
  const server = await startOwnServer();
  const { database } = server;
  const standby = await startStandby(server, "replica");
  await database.query("alter role purser_service set synchronous_commit = local");
  const { manage, check, consume } = await setupManage({}, database);
  const topUp = () => manage("POST", "customers/ada/credits", { body: TOP_UP });
  const render = () => consume({ customerId: "ada", feature: "image.render", idempotencyKey: randomUUID() });
  const waiting = () => database.count("pg_stat_activity", "wait_event = 'SyncRep'");
  await database.query("alter system set synchronous_standby_names = 'replica'");
  await database.query("select pg_reload_conf()");
  const acknowledged = await topUp();
  expect(acknowledged.status).toBe(200);
  expect(await standby.database.count("cell.grants", "kind = 3")).toBe(1);

  await standby.server.crash();
  const replies = await Promise.all([topUp(), topUp(), render(), render()]);
  expect(replies.map(({ body }) => body["code"])).toContain("outcome_unknown");
  for (let round = 0; round < 10; round++) replies.push(...(await Promise.all([topUp(), render()])));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  // Waiting commits: one for the runtime, one for each connection in the management pool, and up to four for jobs.
  const bound = await waiting();
  expect(bound).toBeLessThanOrEqual(1 + 2 + 4);
  expect((await check({ customerId: "ada", feature: "image.render" })).status).toBe(200);

  await standby.server.restart();
  await expect.poll(waiting).toBe(0);
  await expect.poll(async () => (await topUp()).status).toBe(200);
  await expect.poll(async () => (await render()).status).toBe(200);
}, 120_000);

test("an edit without changes is acknowledged only after the standby has the data that the edit read", async () => {
  const { database } = await startOwnServer();
  const { manage } = await setupManage({}, database);
  const edit = () => manage("PUT", "default-plan", { body: { plan: "pro" } });
  expect((await edit()).status).toBe(200);
  const read = async () => (await manage("GET", "catalog")).body["version"];
  const version = await read();
  expect((await edit()).status).toBe(200);
  expect(await read()).toBe(version);
  await database.query("alter system set synchronous_standby_names = 'gone'");
  await database.query("select pg_reload_conf()");
  const unchanged = await edit();
  await database.query("alter system set synchronous_standby_names = ''");
  await database.query("select pg_reload_conf()");
  expect([unchanged.status, unchanged.body["code"]]).toEqual([503, "outcome_unknown"]);
  await expect.poll(async () => (await edit()).status).toBe(200);
  expect(await read()).toBe(version);
}, 60_000);
