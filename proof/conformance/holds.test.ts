import { expect, test } from "vitest";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { setupCredits } from "../../service/test/credits.ts";
import {
  expectVerified,
  type Holds,
  openHolds,
  setupHolds,
  windBackHolds,
} from "../../service/test/holds.ts";
import { setupManage } from "../../service/test/manage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

// How holds interact with other parts of Purser. The hold calls are tested in service/src/runtime/holds.

const IMAGES = { feature: "image.render", quantity: 4 }; // 40 credits

test("all hold calls need the `consume` scope", async () => {
  const { hold, open, settle, release, extend, read, database } = await setupHolds();
  const holdId = await open(IMAGES);
  await database.query("update control.api_keys set scopes = '{check,events}'");
  const calls = [
    () => hold(IMAGES),
    () => settle(holdId),
    () => release(holdId),
    () => extend(holdId),
    () => read(`/v1/holds/${holdId}`),
    () => read("/v1/customers/ada/holds"),
  ];
  // The service caches the key for a few seconds.
  await expect.poll(async () => (await hold(IMAGES)).status, { timeout: 30_000 }).toBe(403);
  for (const call of calls) expect((await call()).body["code"]).toBe("scope_missing");
});

test("a hold that is opened, extended, released or expired writes nothing to the ledger", async () => {
  const { open, extend, release, balance, database } = await setupHolds();
  await balance();
  const entries = await database.count("cell.ledger");
  const changed = await changedTables(database, async () => {
    const holdId = await open(IMAGES);
    await extend(holdId, { quantity: 5 });
    await extend(holdId, { quantity: 6, expiresInSeconds: 3_600 });
    await release(holdId);
  });
  expect(changed).not.toContain("cell.ledger");
  expect(await database.count("cell.ledger")).toBe(entries);
});

test("a hold fixes its price when it is opened", async () => {
  const { open, settle, extend, publish, cell, context, consume, database } = await setupHolds();
  const holdId = await open(IMAGES);
  await defineFeature(cell, context, {
    ...{ key: "image.render", name: "Image", unit: null, pool: "credits" },
    cost: { credits: 25, per: 1 },
  });
  await publish({ reach: "now" });
  const charge = { customerId: "ada", feature: "image.render", idempotencyKey: "c1" };
  expect((await consume(charge)).body["creditsCharged"]).toBe(25);
  expect((await extend(holdId, { quantity: 5 })).body["creditsHeld"]).toBe(50);
  expect((await settle(holdId)).body["creditsCharged"]).toBe(50);
  await expectVerified(database);
});

test("credits that were held when their period ended expire when the hold ends", async () => {
  const { open, release, settle, balance, database } = await setupHolds();
  const first = await open(IMAGES);
  const second = await open(IMAGES);
  const rename = await windBackHolds(database, 31 * DAY_MS);
  await keepOpen({ database });
  expect(await balance()).toBe(100);
  expect((await release(rename(first))).body).toMatchObject({ creditsReleased: 40 });
  expect(await balance()).toBe(100);
  expect((await settle(rename(second))).body).toMatchObject({ creditsCharged: 40, creditsUncovered: 0 });
  expect(await balance()).toBe(100);
});

/** Sets the end of all holds to an hour from now. */
async function keepOpen({ database }: Pick<Holds, "database">): Promise<void> {
  await database.query("set session_replication_role = replica");
  await database.query("update cell.hold_changes set expires_at = now() + interval '1 hour'");
  await database.query("update cell.open_holds set expires_at = now() + interval '1 hour'");
  await database.query("set session_replication_role = origin");
}

test("held allowance credits do not move to another plan", async () => {
  const { open, release, publish, assign, balance, database } = await setupHolds();
  const allowances = [{ pool: "credits", credits: 5, period: "month" as const, rollover: 0, overage: 0 }];
  await publish({ key: "small", name: "Small", allowances });
  const holdId = await open(IMAGES);
  await assign("ada", "small");
  expect(await balance()).toBe(5);
  await release(holdId);
  expect(await balance()).toBe(5);
  await assign("ada", "pro");
  expect(await balance()).toBe(100);
  await expectVerified(database);
});

test("held credits can be revoked, except those that the settlement uses", async () => {
  const managed = await setupManage();
  const { open, release, settle, balance } = openHolds(managed);
  const { manage, topUp, consume, database } = managed;
  await consume({ customerId: "ada", feature: "image.render", quantity: 10, idempotencyKey: "all" });
  await topUp("ada", 80);
  const unused = await open(IMAGES);
  const used = await open(IMAGES);
  const reply = await manage("POST", "customers/ada/grants/2/revoke", { body: {} });
  expect(reply.status).toBe(200);
  await release(unused);
  expect(await balance()).toBe(0);
  expect((await settle(used)).body).toMatchObject({ creditsCharged: 40, creditsUncovered: 0 });
  expect(await balance()).toBe(0);
  await expectVerified(database);
});

test("a settlement can still be repeated after idempotency keys have expired", async () => {
  const { open, settle, database } = await setupHolds({ IDEMPOTENCY_DAYS: "40" });
  const holdId = await open(IMAGES);
  const first = await settle(holdId, { quantity: 1 });
  const rename = await windBackHolds(database, 50 * DAY_MS);
  const again = await settle(rename(holdId), { quantity: 1 });
  expect(again.status).toBe(200);
  expect(again.body["consumeId"]).toBe(first.body["consumeId"]);
});

test("a settlement is reversed like any other charge, starting with its uncovered part", async () => {
  const managed = await setupManage();
  const { open, settle, balance } = openHolds(managed);
  const { manage, database } = managed;
  const settled = await settle(await open(IMAGES), { quantity: 12 });
  expect(settled.body).toMatchObject({ creditsCharged: 100, creditsUncovered: 20 });
  const path = `customers/ada/consumes/${settled.body["consumeId"]}/reverse`;
  expect((await manage("POST", path, { body: { quantity: 2 } })).body).toMatchObject({ credits: 0 });
  expect((await manage("POST", path, { body: { quantity: 1 } })).body).toMatchObject({ credits: 10 });
  expect(await balance()).toBe(10);
  await expectVerified(database);
});

test("erasing a customer releases open holds, and a new customer with the same ID cannot settle them", async () => {
  const managed = await setupManage();
  const { open, settle, read } = openHolds(managed);
  const { manage, assign, database } = managed;
  const holdId = await open({ ...IMAGES, memberId: "user_7", metadata: { job: 1 } });
  expect((await manage("DELETE", "customers/ada")).status).toBe(200);
  expect(await database.count("cell.open_holds")).toBe(0);
  expect((await read(`/v1/holds/${holdId}`)).status).toBe(404);
  await assign("ada");
  expect((await settle(holdId)).body["code"]).toBe("hold_not_found");
  await expectVerified(database);
});

test("an API key for another environment cannot find the hold", async () => {
  const holds = await setupHolds();
  const holdId = await holds.open(IMAGES);
  const { secret } = holds.project.live.key;
  const response = await fetch(`${holds.service.url}/v1/holds/${holdId}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(response.status).toBe(404);
});

test("until the upgrade is finished, holds are rejected", async () => {
  const credits = await setupCredits({}, async (unfinished) => {
    await unfinished.query("update cell.identity set data_format = 1");
  });
  const { hold, database } = openHolds(credits);
  const body = { ...IMAGES, idempotencyKey: "h1" };
  expect(await hold(body)).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  expect(await database.count("cell.hold_changes")).toBe(0);
  await database.query("update cell.identity set data_format = 2");
  expect((await hold(body)).body["allowed"]).toBe(true);
});

test("a hold counts toward the limit of the period in which it was opened, and of no later period", async () => {
  const { open, settle, check, database } = await setupHolds();
  const holdId = await open({ feature: "export", quantity: 5, expiresInSeconds: 86_400 });
  await windBack(database, DAY_MS);
  const limit = async () => (await check({ customerId: "ada", feature: "export" })).body["limit"];
  expect(await limit()).toMatchObject({ used: 0, remaining: 5 });
  await settle(holdId, { quantity: 5 });
  expect(await limit()).toMatchObject({ used: 0, remaining: 5 });
});
