import { expect, test } from "vitest";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { definePool } from "../../service/src/manage/pools/operations.ts";
import { expectSoundBooks } from "../../service/test/books.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { PRO } from "../../service/test/seed.ts";
import { times } from "../../service/test/two-services.ts";
import { changedTables } from "./changed-tables.ts";
import { expectReplay } from "./replay.ts";

// Several features in one request: `items` in check and consume.

const RENDER = { feature: "image.render", quantity: 2 };
const TEXT = { feature: "text.generate", quantity: 1_500 };
const EXPORT = { feature: "export" };
const ADA = { customerId: "ada", idempotencyKey: "key-1" };
const BODY = { ...ADA, items: [RENDER, TEXT, EXPORT] };

const itemsOf = (body: Record<string, unknown>) => body["items"] as Record<string, unknown>[];

/** The charges in the ledger: position in the request, feature, quantity and amount. */
async function chargesIn({ database }: Credits): Promise<unknown[]> {
  return database.query(
    `select e.sequence::integer, e.item, e.items, f.key, e.quantity, e.amount::integer
     from cell.ledger as e
     join cell.features as f on f.id = e.feature_id
     where e.kind = 2
     order by e.sequence`,
  );
}

test("a consume response with items has exactly the documented fields, and each item gets one charge", async () => {
  const credits = await setupCredits();
  const reply = await credits.consume(BODY);
  expect(reply.status).toBe(200);
  const { consumeId } = reply.body;
  const [first, , third] = itemsOf(reply.body);
  const resetsAt = first?.["resetsAt"];
  const limit = JSON.stringify(third?.["limit"]);
  expect(reply.text).toBe(
    '{"allowed":true,"reason":null,"deniedItem":null,"customerId":"ada","items":[' +
      '{"feature":"image.render","quantity":2,"creditsRequired":20,"creditsCharged":20,"pool":"credits","balance":75,' +
      `"resetsAt":"${resetsAt}","limit":null},` +
      '{"feature":"text.generate","quantity":1500,"creditsRequired":5,"creditsCharged":5,"pool":"credits","balance":75,' +
      `"resetsAt":"${resetsAt}","limit":null},` +
      '{"feature":"export","quantity":1,"creditsRequired":0,"creditsCharged":0,"pool":"credits","balance":75,' +
      `"resetsAt":"${resetsAt}","limit":${limit}}],"consumeId":"${consumeId}"}`,
  );
  expect(third?.["limit"]).toMatchObject({ quantity: 5, used: 1, remaining: 4 });
  expect(await chargesIn(credits)).toEqual([
    { sequence: 2, item: 0, items: 3, key: "image.render", quantity: 2, amount: -20 },
    { sequence: 3, item: 1, items: 3, key: "text.generate", quantity: 1_500, amount: -5 },
    { sequence: 4, item: 2, items: 3, key: "export", quantity: 1, amount: 0 },
  ]);
  await expectSoundBooks(credits.database);
});

test("a check with items returns the consume fields without the charge, and changes nothing", async () => {
  const { check, database } = await setupCredits();
  const changed = await changedTables(database, async () => {
    const reply = await check(BODY);
    expect(Object.keys(reply.body)).toEqual(["allowed", "reason", "deniedItem", "customerId", "items"]);
    expect(itemsOf(reply.body).map(({ balance }) => balance)).toEqual([100, 100, 100]);
    expect(Object.keys(itemsOf(reply.body)[0] ?? {})).toEqual([
      "feature",
      "quantity",
      "creditsRequired",
      "pool",
      "balance",
      "resetsAt",
      "limit",
    ]);
  });
  expect(changed).toEqual([]);
});

test("if items are denied, nothing is charged, and one denial is stored, for the first denied item", async () => {
  const credits = await setupCredits();
  const { consume, check, database } = credits;
  const body = {
    ...ADA,
    items: [TEXT, { feature: "image.render", quantity: 10 }, { ...EXPORT, quantity: 9 }],
  };
  const changed = await changedTables(database, async () => {
    const reply = await consume(body);
    expect(reply.body).toMatchObject({
      allowed: false,
      reason: "insufficient_credits",
      deniedItem: 1,
      // 95 credits are left after the first item.
      affordableQuantity: 9,
      consumeId: null,
    });
    expect(itemsOf(reply.body).map(({ creditsCharged, balance }) => [creditsCharged, balance])).toEqual([
      [0, 100],
      [0, 100],
      [0, 100],
    ]);
    expect((await check(body)).body).toMatchObject({ allowed: false, deniedItem: 1, affordableQuantity: 9 });
  });
  expect(changed).toEqual(["cell.denials", "cell.keyed_requests"]);
  expect(
    await database.query(
      "select item, items, quantity, credits_required::integer as required, balance::integer from cell.denials",
    ),
  ).toEqual([
    {
      item: 1,
      items: '[["text.generate",1500],["image.render",10],["export",9]]',
      quantity: 10,
      required: 105,
      balance: 100,
    },
  ]);
  expect(await chargesIn(credits)).toEqual([]);
});

test("earlier items reduce only the credits left for later items in the same pool", async () => {
  const credits = await setupCredits();
  const { cell, context, publish, consume } = credits;
  await definePool(cell, context, { key: "minutes", name: "Minutes" });
  const cost = { credits: 1, per: 1 };
  await defineFeature(cell, context, { key: "video", name: "Video", unit: null, pool: "minutes", cost });
  await publish({
    reach: "now",
    allowances: [
      ...PRO.allowances,
      { pool: "minutes", credits: 60, period: "month", rollover: 0, overage: 0 },
    ],
    features: [...PRO.features, { feature: "video", limit: null }],
  });
  const video = { feature: "video", quantity: 60 };
  const render = { feature: "image.render", quantity: 10 };
  const { body } = await consume({ ...ADA, items: [render, video] });
  expect(body["allowed"]).toBe(true);
  expect(itemsOf(body).map(({ pool, balance }) => [pool, balance])).toEqual([
    ["credits", 0],
    ["minutes", 0],
  ]);
  await expectSoundBooks(credits.database);
});

test.each([
  {
    items: [{ feature: "video.render" }, RENDER],
    reason: "feature_not_in_plan",
    deniedItem: 0,
    affordable: 0,
  },
  { items: [RENDER, { ...EXPORT, quantity: 6 }], reason: "limit_reached", deniedItem: 1, affordable: 5 },
  { items: [{ ...RENDER, quantity: 11 }], reason: "insufficient_credits", deniedItem: 0, affordable: 10 },
])("a denial for $reason names the denied item and the affordable quantity", async (expected) => {
  const { check, consume } = await setupCredits();
  const body = { ...ADA, items: expected.items };
  for (const reply of [await check(body), await consume(body)])
    expect(reply.body).toMatchObject({
      allowed: false,
      reason: expected.reason,
      deniedItem: expected.deniedItem,
      affordableQuantity: expected.affordable,
    });
});

test("a denial without items has the affordable quantity, and an allowed response does not", async () => {
  const { check, consume } = await setupCredits();
  const body = { ...ADA, feature: "text.generate", quantity: 40_000 };
  expect((await check(body)).body).toMatchObject({ allowed: false, affordableQuantity: 33_333 });
  const denied = await consume(body);
  expect(denied.text).toMatch(
    /"limit":null,"affordableQuantity":33333,"consumeId":null,"creditsCharged":0}$/,
  );
  await expectReplay(consume(body), denied);
  const affordable = { ...body, quantity: 33_333, idempotencyKey: "key-2" };
  expect((await check(affordable)).body).not.toHaveProperty("affordableQuantity");
  expect((await consume(affordable)).body).toMatchObject({ allowed: true, balance: 0 });
});

test.each([
  ["allowed", BODY],
  ["denied", { ...ADA, items: [RENDER, { feature: "video.render" }] }],
])("a retry of an %s request gets the original response and charges nothing", async (_, body) => {
  const credits = await setupCredits();
  const original = await credits.consume(body);
  await credits.topUp("ada", 50);
  await credits.publish({ reach: "now", features: [] });
  const before = await chargesIn(credits);
  await expectReplay(credits.consume(body), original);
  // A quantity of 1 is the default, so this is the same request.
  const spelled = { ...body, items: body.items.map((item) => ({ quantity: 1, ...item })) };
  await expectReplay(credits.consume(spelled), original);
  expect(await chargesIn(credits)).toEqual(before);
});

test.each([
  ["another order", { ...ADA, items: [TEXT, RENDER, EXPORT] }],
  ["another quantity", { ...ADA, items: [RENDER, TEXT, { ...EXPORT, quantity: 2 }] }],
  ["fewer items", { ...ADA, items: [RENDER, TEXT] }],
  ["a single feature", { ...ADA, ...RENDER }],
])("a reused key with %s gets 409", async (_, other) => {
  const { consume } = await setupCredits();
  await consume(BODY);
  expect(await consume(other)).toMatchObject({
    status: 409,
    body: { code: "idempotency_key_reused", conflict: "payload" },
  });
});

test.each([
  [{ ...BODY, feature: "export" }, "feature", "unknown_field"],
  [{ ...BODY, quantity: 2 }, "quantity", "unknown_field"],
  [{ ...ADA }, "feature", "required"],
  [{ ...ADA, items: [] }, "items", "too_short"],
  [{ ...ADA, items: times(21, (i) => ({ feature: `f${i}` })) }, "items", "too_long"],
  [{ ...ADA, items: [RENDER, EXPORT, RENDER] }, "items.2.feature", "wrong_form"],
  [{ ...ADA, items: [RENDER, { quantity: 1 }] }, "items.1.feature", "required"],
  [{ ...ADA, items: [{ ...RENDER, note: "x" }] }, "items.0.note", "unknown_field"],
  [{ ...ADA, items: [{ ...RENDER, quantity: 0 }] }, "items.0.quantity", "too_small"],
  [{ ...ADA, items: [{ feature: "a\u0000" }] }, "items.0.feature", "wrong_form"],
])("an invalid body is rejected, and the error names the field (%#)", async (body, field, code) => {
  const { check, consume, database } = await setupCredits();
  const changed = await changedTables(database, async () => {
    for (const reply of [await check(body), await consume(body)])
      expect(reply).toMatchObject({
        status: 400,
        body: { code: "invalid_request", errors: [{ field, code }] },
      });
  });
  expect(changed).toEqual([]);
});

test("an unknown feature in any item gets a 404 that names it, and nothing is stored", async () => {
  const { consume, database } = await setupCredits();
  const changed = await changedTables(database, async () => {
    const reply = await consume({ ...ADA, items: [RENDER, { feature: "nothing" }] });
    expect(reply).toMatchObject({ status: 404, body: { code: "feature_not_found" } });
    expect(reply.body["detail"]).toContain('"nothing"');
  });
  expect(changed).toEqual([]);
});

test("an unknown customer gets the default plan, or is denied at item 0", async () => {
  const { consume, cell, context } = await setupCredits();
  const stranger = { ...BODY, customerId: "stranger" };
  const denied = await consume(stranger);
  expect(denied.body).toMatchObject({ reason: "customer_not_found", deniedItem: 0, affordableQuantity: 0 });
  expect(itemsOf(denied.body)[1]).toMatchObject({
    balance: null,
    resetsAt: null,
    limit: null,
    pool: "credits",
  });
  await setDefaultPlan(cell, context, { plan: "pro" });
  expect((await consume(stranger)).body).toMatchObject({ allowed: true, deniedItem: null });
});

test("a request can have twenty items", async () => {
  const { consume, cell, context, publish, database } = await setupCredits();
  const keys = times(20, (i) => `feature-${i}`);
  const cost = { credits: 1, per: 1 };
  for (const key of keys)
    await defineFeature(cell, context, { key, name: key, unit: null, pool: "credits", cost });
  await publish({ reach: "now", features: keys.map((feature) => ({ feature, limit: null })) });
  const { body } = await consume({ ...ADA, items: keys.map((feature) => ({ feature, quantity: 5 })) });
  expect(body["allowed"]).toBe(true);
  expect(itemsOf(body).every(({ balance }) => balance === 0)).toBe(true);
  expect(await database.count("cell.ledger", "kind = 2 and items = 20")).toBe(20);
});
