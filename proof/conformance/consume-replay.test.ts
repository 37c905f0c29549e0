import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { endPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { blockCustomer } from "../../service/src/manage/customers/block-customer.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { brandAs, type CustomerId } from "../../service/src/primitives/brand.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { post, type Reply, startTestService } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";
import { createAnotherKey, expectReplay } from "./replay.ts";

const ADA = brandAs<CustomerId>("ada");
const RENDER = { customerId: "ada", feature: "image.render", quantity: 2, idempotencyKey: "key-1" };

test("without idempotencyKey, a consume request gets 400, and the response mentions the unused header", async () => {
  const { consume, database } = await setupCredits();
  const { idempotencyKey: _, ...unkeyed } = RENDER;
  const changed = await changedTables(database, async () => {
    const reply = await consume(unkeyed, { "idempotency-key": "key-1" });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: "invalid_request", errors: [{ field: "idempotencyKey", code: "required" }] },
    });
    expect(reply.text).toContain("Idempotency-Key");
  });
  expect(changed).toEqual([]);
});

test("the Idempotency-Key header is ignored", async () => {
  const { consume, database } = await setupCredits();
  const original = await consume(RENDER, { "idempotency-key": "one" });
  await expectReplay(consume(RENDER, { "idempotency-key": "two" }), original);
  expect(await database.count("cell.keyed_requests")).toBe(1);
});

test("a retry gets the original response byte for byte, is marked as replayed, and is not charged again", async () => {
  const { consume, database } = await setupCredits();
  const original = await consume(RENDER);
  expect(original.headers.has("idempotent-replayed")).toBe(false);
  expect(await changedTables(database, () => expectReplay(consume(RENDER), original))).toEqual([]);
});

test("a retry gets the original response, even if plan, credits and settings have changed since", async () => {
  const { consume, cell, context, topUp, publish, database, project } = await setupCredits();
  const original = await consume(RENDER);
  const quota = { customerId: "ada", feature: "export", quantity: 2, idempotencyKey: "key-2" };
  const counted = await consume(quota);
  await topUp("ada", 500);
  await consume({ ...RENDER, idempotencyKey: "key-3" });
  const cost = { credits: 99, per: 1 };
  await defineFeature(cell, context, {
    key: "image.render",
    name: "Render",
    unit: null,
    pool: "credits",
    cost,
  });
  await publish({ reach: "now", allowances: [], features: [] });
  await endPlan(cell, context, { customerId: ADA });
  await blockCustomer(cell, context, { customerId: ADA, isBlocked: true });
  const second = await startTestService(database);
  await expectReplay(post(`${second.url}/v1/consume`, project.test.key.secret, RENDER), original);
  await expectReplay(consume(RENDER), original);
  await expectReplay(consume(quota), counted);
});

test("another process and another API key for the project return the original response too", async () => {
  const credits = await setupCredits();
  const original = await credits.consume(RENDER);
  const secret = await createAnotherKey(credits, "consume");
  const second = await startTestService(credits.database);
  await expectReplay(post(`${second.url}/v1/consume`, secret, RENDER), original);
});

test("a consume request with equivalent JSON is the same payload", async () => {
  const { consume, database } = await setupCredits();
  const body = { ...RENDER, quantity: 1, metadata: { b: { d: 1, c: 2 }, a: "x" } };
  const original = await consume(body);
  const spellings = [
    Object.fromEntries(Object.entries(body).reverse()),
    { ...body, quantity: undefined },
    { ...body, metadata: { a: "x", b: { c: 2, d: 1 } } },
    JSON.stringify(body, null, 2).replace('"quantity": 1', '"quantity": 1.0'),
    JSON.stringify(body).replace("image", "\\u0069mage"),
  ];
  for (const spelling of spellings) await expectReplay(consume(spelling), original);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
});

test("empty metadata is the same as no metadata, in both directions", async () => {
  const { consume } = await setupCredits();
  const first = await consume(RENDER);
  await expectReplay(consume({ ...RENDER, metadata: {} }), first);
  const second = await consume({ ...RENDER, idempotencyKey: "key-2", metadata: {} });
  await expectReplay(consume({ ...RENDER, idempotencyKey: "key-2" }), second);
});

/** A denial, its setup, and a change after which the same request would be allowed. */
const DENIALS: readonly [
  string,
  object,
  (credits: Credits) => Promise<unknown>,
  (credits: Credits) => Promise<unknown>,
][] = [
  ["insufficient_credits", { quantity: 11 }, async () => {}, ({ topUp }) => topUp("ada", 500)],
  [
    "feature_not_in_plan",
    { feature: "video.render", quantity: 1 },
    async () => {},
    ({ publish }) => publish({ reach: "now", features: [{ feature: "video.render", limit: null }] }),
  ],
  [
    "limit_reached",
    { feature: "export", quantity: 6 },
    async () => {},
    ({ publish }) => publish({ reach: "now", features: [{ feature: "export", limit: null }] }),
  ],
  [
    "customer_blocked",
    {},
    ({ cell, context }) => blockCustomer(cell, context, { customerId: ADA, isBlocked: true }),
    ({ cell, context }) => blockCustomer(cell, context, { customerId: ADA, isBlocked: false }),
  ],
];

test.each(DENIALS)(
  "a denial (%s) is stored: a late retry gets it again, while a new key is charged",
  async (reason, change, arrange, mend) => {
    const credits = await setupCredits();
    const { consume, database } = credits;
    await arrange(credits);
    const denied = await consume({ ...RENDER, ...change });
    expect(denied.body).toMatchObject({ allowed: false, reason });
    await mend(credits);
    const changed = await changedTables(database, () =>
      expectReplay(consume({ ...RENDER, ...change }), denied),
    );
    expect(changed).toEqual([]);
    const attempt = await consume({ ...RENDER, ...change, idempotencyKey: "key-2" });
    expect(attempt.body["allowed"]).toBe(true);
  },
);

test("customer_not_found and no_active_plan are not stored, because a consume request can arrive before the plan does", async () => {
  const { consume, assign, topUp, database } = await setupCredits();
  const body = { ...RENDER, customerId: "bob" };
  expect((await consume(body)).body["reason"]).toBe("customer_not_found");
  await topUp("bob", 5);
  const changed = await changedTables(database, async () => {
    expect((await consume(body)).body).toMatchObject({ reason: "no_active_plan", balance: 5 });
  });
  expect(changed).toEqual([]);
  await assign("bob");
  const allowed = await consume(body);
  expect(allowed.body).toMatchObject({ allowed: true, balance: 85 });
  expect(allowed.headers.has("idempotent-replayed")).toBe(false);
  await expectReplay(consume(body), allowed);
});

test("a rejected request does not use up its key (400, 404, 422)", async () => {
  const { consume } = await setupCredits();
  expect((await consume({ ...RENDER, quantity: 0 })).status).toBe(400);
  expect((await consume({ ...RENDER, feature: "nothing" })).status).toBe(404);
  expect((await consume({ ...RENDER, metadata: { a: "x".repeat(9_000) } })).status).toBe(422);
  const reply = await consume(RENDER);
  expect(reply.body["allowed"]).toBe(true);
  expect(reply.headers.has("idempotent-replayed")).toBe(false);
});

test("metadata beyond the workspace limits gets 422, but a charge accepted under earlier limits still replays", async () => {
  const { consume, database } = await setupCredits();
  const body = { ...RENDER, metadata: { a: 1, b: 2, c: 3 } };
  const original = await consume(body);
  await database.query("update control.workspace_plans set metadata_keys_max = 2");
  // A process reads the workspace limits with the API key, every few seconds.
  const attempt = (): Promise<Reply> => consume({ ...body, idempotencyKey: randomUUID() });
  await expect.poll(async () => (await attempt()).status, { timeout: 8_000 }).toBe(422);
  const changed = await changedTables(database, async () => {
    expect(await consume({ ...body, idempotencyKey: "key-3" })).toMatchObject({
      status: 422,
      body: { code: "metadata_limit_exceeded", limit: "keys", max: 2, actual: 3 },
    });
  });
  expect(changed).toEqual([]);
  await expectReplay(consume(body), original);
});
