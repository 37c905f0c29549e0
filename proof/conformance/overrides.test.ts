import { expect, test } from "vitest";
import { expectSoundBooks } from "../../service/test/books.ts";
import { setupManage } from "../../service/test/manage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

// Overrides change features immediately and allowances from the next period. Ledger entries keep the price that was charged.

const RENDER = { customerId: "ada", feature: "image.render" };

/** `ada` and `bob` have the `pro` plan: 100 credits a month, 10 for an image. */
async function setup() {
  const managed = await setupManage();
  const { manage } = managed;
  await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  return {
    ...managed,
    override: (body: object) => manage("PUT", "customers/ada/overrides", { body }),
  };
}

test("overrides apply from the next request, and only to their customer", async () => {
  const { override, check } = await setup();
  await override({ features: { "image.render": { cost: { credits: 1 } } } });
  expect((await check(RENDER)).body["creditsRequired"]).toBe(1);
  expect((await check({ ...RENDER, customerId: "bob" })).body["creditsRequired"]).toBe(10);
});

test("check and consume apply the same overridden limit, even with items", async () => {
  const { override, check, consume } = await setup();
  await override({ features: { "image.render": { limit: { quantity: 2, period: "day" } } } });
  const items = [{ feature: "image.render", quantity: 2 }];
  expect((await check({ customerId: "ada", items })).body).toMatchObject({ allowed: true });
  expect((await consume({ customerId: "ada", items, idempotencyKey: "a" })).body["allowed"]).toBe(true);
  const denied = { allowed: false, reason: "limit_reached", affordableQuantity: 0 };
  expect((await check(RENDER)).body).toMatchObject(denied);
  expect((await consume({ ...RENDER, idempotencyKey: "b" })).body).toMatchObject(denied);
});

test("a retry returns the original response, even if overrides have changed since", async () => {
  const { override, consume } = await setup();
  const request = { ...RENDER, idempotencyKey: "a" };
  const first = await consume(request);
  await override({ features: { "image.render": { cost: { credits: 1 } } } });
  expect((await consume(request)).body).toEqual(first.body);
});

test("an overridden allowance applies from the next period", async () => {
  const { override, check, database } = await setup();
  await override({ allowances: { credits: { credits: 30 } } });
  expect((await check(RENDER)).body["balance"]).toBe(100);
  await windBack(database, 40 * DAY_MS);
  expect((await check(RENDER)).body["balance"]).toBe(30);
  await override({});
  expect((await check(RENDER)).body["balance"]).toBe(30);
  await windBack(database, 40 * DAY_MS);
  expect((await check(RENDER)).body["balance"]).toBe(100);
});

test("the plan's terms apply again after the overrides end", async () => {
  const { override, check, consume, database } = await setup();
  const endsAt = new Date(Date.now() + DAY_MS).toISOString();
  await override({ features: { "image.render": { included: false } }, endsAt });
  expect((await check(RENDER)).body["reason"]).toBe("feature_not_in_plan");
  await windBack(database, 2 * DAY_MS);
  expect((await consume({ ...RENDER, idempotencyKey: "a" })).body["allowed"]).toBe(true);
  await expectSoundBooks(database);
});

test("setting the same overrides again changes no row", async () => {
  const { override, database } = await setup();
  const terms = { features: { "image.render": { limit: null } }, endsAt: "2999-01-01T00:00:00Z" };
  await override(terms);
  const changed = await changedTables(database, async () => {
    expect((await override(terms)).body["outcome"]).toBe("unchanged");
  });
  expect(changed).toEqual([]);
});
