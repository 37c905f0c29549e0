import { expect, test } from "vitest";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { definePool } from "../../service/src/manage/pools/operations.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { PRO } from "../../service/test/seed.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

const RENDER = { customerId: "ada", feature: "image.render", idempotencyKey: "key-1" };

test("a consume response has exactly the check fields followed by the charge fields, in order", async () => {
  const { consume } = await setupCredits();
  const reply = await consume({ ...RENDER, quantity: 2 });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const { resetsAt, consumeId } = reply.body;
  expect(consumeId).toMatch(/^con_[0-9a-z]{26}$/);
  expect(reply.text).toBe(
    '{"allowed":true,"reason":null,"customerId":"ada","feature":"image.render","quantity":2,' +
      `"creditsRequired":20,"balance":80,"resetsAt":"${resetsAt}","limit":null,` +
      `"consumeId":"${consumeId}","creditsCharged":20}`,
  );
});

test("a consume denial has the fields of an allowed response and the affordable quantity, in order", async () => {
  const { consume } = await setupCredits();
  const reply = await consume({ ...RENDER, quantity: 11 });
  expect(reply.text).toBe(
    '{"allowed":false,"reason":"insufficient_credits","customerId":"ada","feature":"image.render","quantity":11,' +
      `"creditsRequired":110,"balance":100,"resetsAt":"${reply.body["resetsAt"]}","limit":null,` +
      '"affordableQuantity":10,"consumeId":null,"creditsCharged":0}',
  );
});

test("the charge is in the wallet and the ledger before the response is sent", async () => {
  const { consume, database } = await setupCredits();
  const changed = await changedTables(database, () => consume(RENDER));
  expect(changed).toEqual(["cell.keyed_requests", "cell.ledger", "cell.wallets"]);
  expect(await database.query("select balance from cell.wallets")).toEqual([{ balance: "90" }]);
  expect(await database.count("cell.ledger", "kind = 2 and amount = -10 and balance_after = 90")).toBe(1);
});

test("quantity is optional and defaults to 1", async () => {
  const { consume } = await setupCredits();
  expect((await consume(RENDER)).body).toMatchObject({ quantity: 1, creditsCharged: 10 });
});

test.each([
  [1, 1],
  [333, 1],
  [334, 2],
  [999, 3],
  [1_000, 3],
  [1_001, 4],
  [33_333, 100],
])("at 3 credits per 1,000, a quantity of %i costs %i, rounded up", async (quantity, credits) => {
  const { check, consume } = await setupCredits();
  const body = { customerId: "ada", feature: "text.generate", quantity, idempotencyKey: "key-1" };
  expect((await check(body)).body["creditsRequired"]).toBe(credits);
  expect((await consume(body)).body).toMatchObject({
    allowed: true,
    creditsRequired: credits,
    creditsCharged: credits,
    balance: 100 - credits,
  });
});

test("the largest possible charge is stored exactly", async () => {
  const { check, cell, context, publish } = await setupCredits();
  const cost = { credits: 1_000_000_000, per: 999_999 };
  await defineFeature(cell, context, { key: "dear", name: "Dear", unit: null, pool: "credits", cost });
  await publish({ reach: "now", features: [{ feature: "dear", limit: null }] });
  const { body } = await check({ customerId: "ada", feature: "dear", quantity: 1_000_000 });
  expect(body["creditsRequired"]).toBe(Number((10n ** 15n + 999_998n) / 999_999n));
});

test("features with different costs can spend a shared allowance down to exactly 0", async () => {
  const credits = await setupCredits();
  const { consume, publish } = credits;
  await publish({ reach: "now", features: [...PRO.features, { feature: "video.render", limit: null }] });
  const spend = async (feature: string, quantity: number): Promise<unknown[]> => {
    const reply = await consume({
      customerId: "ada",
      feature,
      quantity,
      idempotencyKey: `${feature}-${quantity}`,
    });
    return [reply.body["allowed"], reply.body["creditsRequired"], reply.body["balance"]];
  };
  expect(await spend("video.render", 1)).toEqual([true, 50, 50]);
  expect(await spend("image.render", 4)).toEqual([true, 40, 10]);
  expect(await spend("text.generate", 1_000)).toEqual([true, 3, 7]);
  expect(await spend("image.render", 1)).toEqual([false, 10, 7]);
  expect(await spend("text.generate", 2_333)).toEqual([true, 7, 0]);
  expect(await spend("text.generate", 1)).toEqual([false, 1, 0]);
  // A feature with cost 0 does not need a balance.
  expect(await spend("export", 5)).toEqual([true, 0, 0]);
});

test("a feature with cost 0 and a limit charges nothing, and is denied beyond the limit", async () => {
  const { consume, database } = await setupCredits();
  const take = (quantity: number, idempotencyKey: string) =>
    consume({ customerId: "ada", feature: "export", quantity, idempotencyKey });
  expect((await take(3, "a")).body).toMatchObject({
    allowed: true,
    creditsRequired: 0,
    creditsCharged: 0,
    balance: 100,
    limit: { quantity: 5, used: 3, remaining: 2 },
  });
  expect((await take(3, "b")).body).toMatchObject({
    allowed: false,
    reason: "limit_reached",
    limit: { quantity: 5, used: 3, remaining: 2 },
  });
  expect((await take(2, "c")).body).toMatchObject({ allowed: true, limit: { used: 5, remaining: 0 } });
  expect((await take(1, "d")).body).toMatchObject({ allowed: false, reason: "limit_reached" });
  // Each allowed consume request has one entry, even if it costs no credits.
  expect(
    await database.query("select quantity, amount from cell.ledger where kind = 2 order by sequence"),
  ).toEqual([
    { quantity: 3, amount: "0" },
    { quantity: 2, amount: "0" },
  ]);
});

test("a limit resets exactly at its resetsAt", async () => {
  const { consume, database } = await setupCredits();
  const take = (idempotencyKey: string) =>
    consume({ customerId: "ada", feature: "export", quantity: 5, idempotencyKey });
  const first = await take("a");
  const { resetsAt } = Object(first.body["limit"]);
  const leftMs = Date.parse(resetsAt) - Date.now();
  // The plan was assigned when the tests began.
  expect(leftMs).toBeGreaterThan(DAY_MS - 500_000);
  expect(leftMs).toBeLessThanOrEqual(DAY_MS);
  await windBack(database, DAY_MS - 600_000);
  expect((await take("b")).body).toMatchObject({ allowed: false, reason: "limit_reached" });
  await windBack(database, 600_000);
  expect((await take("c")).body).toMatchObject({ allowed: true, limit: { used: 5 } });
});

test("the allowance renews at resetsAt, and the balance is full again", async () => {
  const { consume, database } = await setupCredits();
  const first = await consume({ ...RENDER, quantity: 10 });
  const inMonth = new Date();
  inMonth.setUTCMonth(inMonth.getUTCMonth() + 1);
  expect(Math.abs(Date.parse(String(first.body["resetsAt"])) - inMonth.getTime())).toBeLessThan(4 * DAY_MS);
  await windBack(database, Date.parse(String(first.body["resetsAt"])) - Date.now() - 600_000);
  expect((await consume({ ...RENDER, idempotencyKey: "key-2" })).body).toMatchObject({
    allowed: false,
    balance: 0,
  });
  await windBack(database, 600_000);
  expect((await consume({ ...RENDER, idempotencyKey: "key-3" })).body).toMatchObject({
    allowed: true,
    balance: 90,
  });
});

test("spending from one pool does not reduce another pool", async () => {
  const credits = await setupCredits();
  const { consume } = credits;
  await sellSeconds(credits);
  const speak = { customerId: "ada", feature: "speech", idempotencyKey: "key-2" };
  expect((await consume({ ...RENDER, quantity: 10 })).body).toMatchObject({ allowed: true, balance: 0 });
  expect((await consume({ ...speak, quantity: 25 })).body).toMatchObject({ allowed: true, balance: 5 });
  expect((await consume({ ...speak, quantity: 6, idempotencyKey: "key-3" })).body).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    creditsRequired: 6,
    balance: 5,
  });
  expect((await consume({ ...RENDER, idempotencyKey: "key-4" })).body).toMatchObject({ balance: 0 });
});

test("with a default plan, an unknown customer is created and charged", async () => {
  const { consume, cell, context, database } = await setupCredits();
  await setDefaultPlan(cell, context, { plan: "pro" });
  expect((await consume({ ...RENDER, customerId: "new" })).body).toMatchObject({
    allowed: true,
    balance: 90,
  });
  expect(await database.count("cell.customers", "customer_id = 'new'")).toBe(1);
  expect(await database.count("cell.wallets")).toBe(2);
});

test("without a default plan, an unknown customer is denied, and nothing is stored", async () => {
  const { consume, database } = await setupCredits();
  const changed = await changedTables(database, async () => {
    expect((await consume({ ...RENDER, customerId: "new" })).body).toEqual({
      allowed: false,
      reason: "customer_not_found",
      customerId: "new",
      feature: "image.render",
      quantity: 1,
      creditsRequired: 10,
      balance: null,
      resetsAt: null,
      limit: null,
      affordableQuantity: 0,
      consumeId: null,
      creditsCharged: 0,
    });
  });
  expect(changed).toEqual([]);
});

test("one action can be charged and recorded as an event, with separate keys", async () => {
  const { consume, record, database } = await setupCredits();
  expect((await consume(RENDER)).body["allowed"]).toBe(true);
  const event = { customerId: "ada", event: "image.render", quantity: 1, idempotencyKey: "key-2" };
  const changed = await changedTables(database, async () => {
    expect((await record(event)).body["accepted"]).toBe(true);
  });
  // The event moves no credits.
  expect(changed).toEqual(["cell.events", "cell.keyed_requests"]);
});

test("metadata is stored with the charge and with the denial", async () => {
  const { consume, database } = await setupCredits();
  await consume({ ...RENDER, metadata: { job: 7 } });
  await consume({ ...RENDER, quantity: 50, metadata: { job: 8 }, idempotencyKey: "key-2" });
  expect(await database.query("select metadata from cell.ledger where kind = 2")).toEqual([
    { metadata: { job: 7 } },
  ]);
  expect(await database.query("select metadata from cell.denials")).toEqual([{ metadata: { job: 8 } }]);
});

/** A second pool: 30 seconds of speech a month. */
async function sellSeconds({ cell, context, publish }: Credits): Promise<void> {
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  const cost = { credits: 1, per: 1 };
  await defineFeature(cell, context, {
    key: "speech",
    name: "Speech",
    unit: "second",
    pool: "seconds",
    cost,
  });
  await publish({
    reach: "now",
    allowances: [
      ...PRO.allowances,
      { pool: "seconds", credits: 30, period: "month", rollover: 0, overage: 0 },
    ],
    features: [...PRO.features, { feature: "speech", limit: null }],
  });
}
