import { expect, test } from "vitest";
import { expectVerified, setupHolds } from "../../../test/holds.ts";

const TEXT = { feature: "text.generate", quantity: 10_000 }; // 30 credits

test("a hold sets credits aside: they cannot be spent, and the ledger has no entry", async () => {
  const { hold, consume, balance, database } = await setupHolds();
  const reply = await hold({ ...TEXT, idempotencyKey: "h1" });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    allowed: true,
    reason: null,
    customerId: "ada",
    feature: "text.generate",
    quantity: 10_000,
    creditsRequired: 30,
    balance: 70,
    resetsAt: expect.stringMatching(/Z$/),
    limit: null,
    holdId: expect.stringMatching(/^hld_[0-9a-z]{26}$/),
    creditsHeld: 30,
    expiresAt: expect.stringMatching(/Z$/),
  });
  expect(await balance()).toBe(70);
  const charge = { customerId: "ada", feature: "image.render", quantity: 8, idempotencyKey: "c1" };
  expect((await consume(charge)).body["reason"]).toBe("insufficient_credits");
  expect(await database.count("cell.ledger", "kind = 2")).toBe(0);
  await expectVerified(database);
});

test("opening a hold again with the same key returns the same hold, and sets no more credits aside", async () => {
  const { hold, balance } = await setupHolds();
  const body = { ...TEXT, idempotencyKey: "h1", expiresInSeconds: 60, onExpiry: "charge" };
  const first = await hold(body);
  const again = await hold(body);
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await balance()).toBe(70);
  for (const change of [{ expiresInSeconds: 61 }, { onExpiry: "release" }, { quantity: 9_999 }]) {
    const other = await hold({ ...body, ...change });
    expect(other.body).toMatchObject({ status: 409, code: "idempotency_key_reused", conflict: "payload" });
  }
});

test("an idempotency key cannot be used for both a hold and a charge", async () => {
  const { hold, consume } = await setupHolds();
  await hold({ ...TEXT, idempotencyKey: "k" });
  const charge = await consume({ customerId: "ada", ...TEXT, idempotencyKey: "k" });
  expect(charge.body).toMatchObject({ code: "idempotency_key_reused", conflict: "endpoint" });
});

test("a hold that is not affordable is denied like a charge, and the denial is stored under the key", async () => {
  const { hold, topUp, database } = await setupHolds();
  const body = { feature: "image.render", quantity: 11, idempotencyKey: "h1" };
  const denied = await hold(body);
  expect(denied.body).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    affordableQuantity: 10,
    creditsRequired: 110,
    balance: 100,
    holdId: null,
    creditsHeld: 0,
    expiresAt: null,
  });
  await topUp("ada", 100);
  expect((await hold(body)).text).toBe(denied.text);
  expect(await database.count("cell.denials")).toBe(1);
  expect(await database.count("cell.hold_changes")).toBe(0);
});

test("an extension can increase a hold's quantity and expiry, but never reduces them", async () => {
  const { open, extend, balance, database } = await setupHolds();
  const holdId = await open({ ...TEXT, expiresInSeconds: 60 });
  const raised = await extend(holdId, { quantity: 20_000, expiresInSeconds: 3_600 });
  expect(raised.body).toEqual({
    holdId,
    customerId: "ada",
    allowed: true,
    reason: null,
    feature: "text.generate",
    quantity: 20_000,
    creditsHeld: 60,
    overageCredits: 0,
    balance: 40,
    expiresAt: expect.stringMatching(/Z$/),
  });
  const again = await extend(holdId, { quantity: 20_000 });
  expect(again.body).toEqual(raised.body);
  const lower = await extend(holdId, { quantity: 5_000, expiresInSeconds: 60 });
  expect(lower.body).toEqual(raised.body);
  expect(await balance()).toBe(40);
  const at = String(raised.body["expiresAt"]);
  const later = new Date(Date.parse(at) + 1_000).toISOString();
  expect((await extend(holdId, { expiresAt: later })).body["expiresAt"]).toBe(later);
  await expectVerified(database);
});

test("an extension that is not affordable is denied, and the hold does not change", async () => {
  const { open, extend, settle, database } = await setupHolds();
  const holdId = await open(TEXT);
  const denied = await extend(holdId, { quantity: 40_000, expiresInSeconds: 7_200 });
  expect(denied.body).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    affordableQuantity: 33_333,
    quantity: 10_000,
    creditsHeld: 30,
  });
  expect(Date.parse(String(denied.body["expiresAt"]))).toBeLessThan(Date.now() + 3_600_000);
  expect((await settle(holdId)).body["creditsCharged"]).toBe(30);
  await expectVerified(database);
});

test("a hold lasts at most 7 days after it is opened", async () => {
  const { open, extend } = await setupHolds();
  const holdId = await open(TEXT);
  const reply = await extend(holdId, { expiresInSeconds: 7 * 86_400 });
  expect(reply.body).toMatchObject({ status: 422, code: "hold_too_long" });
});

test("an open hold counts toward the limit, and after settlement only the quantity used counts", async () => {
  const { open, hold, settle, check } = await setupHolds();
  const holdId = await open({ feature: "export", quantity: 5 });
  const denied = await hold({ feature: "export" });
  expect(denied.body["reason"]).toBe("limit_reached");
  await settle(holdId, { quantity: 2 });
  const { limit } = (await check({ customerId: "ada", feature: "export" })).body;
  expect(limit).toMatchObject({ used: 2, remaining: 3 });
});

test("a hold can be read with its member and metadata, and is in the customer's list of holds", async () => {
  const { open, settle, read } = await setupHolds();
  const first = await open({ ...TEXT, memberId: "user_7", metadata: { job: 1 } });
  const second = await open({ feature: "image.render" });
  await settle(first, { quantity: 4_000 });
  const shown = await read(`/v1/holds/${first}`);
  expect(shown.body).toMatchObject({
    holdId: first,
    customerId: "ada",
    status: "settled",
    memberId: "user_7",
    metadata: { job: 1 },
    creditsHeld: 30,
    creditsCharged: 12,
    creditsReleased: 18,
    items: [{ feature: "text.generate", quantity: 10_000, quantityUsed: 4_000, creditsHeld: 30 }],
  });
  const ids = async (query: string): Promise<unknown> => {
    const { body } = await read(`/v1/customers/ada/holds${query}`);
    return {
      ids: (body["items"] as { holdId: string }[]).map(({ holdId }) => holdId),
      next: body["nextCursor"],
    };
  };
  expect(await ids("")).toEqual({ ids: [second, first], next: null });
  expect(await ids("?status=open")).toEqual({ ids: [second], next: null });
  expect(await ids("?limit=1")).toEqual({ ids: [second], next: second });
  expect(await ids(`?limit=1&cursor=${second}`)).toEqual({ ids: [first], next: null });
  expect((await read("/v1/customers/nobody/holds")).body).toEqual({ items: [], nextCursor: null });
});

test("another customer's hold, or a made-up hold ID, is not found", async () => {
  const { open, assign, settle, release, extend, read } = await setupHolds();
  await assign("bob");
  const holdId = await open(TEXT);
  const forged = `${holdId.slice(0, 6)}${holdId[6] === "0" ? "1" : "0"}${holdId.slice(7)}`;
  const replies = [
    settle(holdId, { customerId: "bob" }),
    settle(holdId, { customerId: "nobody" }),
    release(forged),
    extend("hld_1"),
    read(`/v1/holds/${forged}`),
  ];
  for (const reply of await Promise.all(replies))
    expect(reply.body).toMatchObject({ status: 404, code: "hold_not_found" });
});

test("the 1,001st open hold of a customer is rejected, and its key can be used again", {
  timeout: 60_000,
}, async () => {
  const { hold, open, settle, topUp, database } = await setupHolds();
  await topUp("ada", 1_000);
  const one = { feature: "text.generate", quantity: 1 };
  const ids = await Promise.all(Array.from({ length: 1_000 }, () => open(one)));
  const rejected = await hold({ ...one, idempotencyKey: "last" });
  expect(rejected.body).toMatchObject({ status: 422, code: "too_many_holds" });
  await settle(String(ids[0]));
  expect((await hold({ ...one, idempotencyKey: "last" })).body["allowed"]).toBe(true);
  expect(await database.count("cell.open_holds")).toBe(1_000);
  await expectVerified(database);
});

test("the error for an invalid body names the field", async () => {
  const { open, hold, settle, extend } = await setupHolds();
  const holdId = await open(TEXT);
  const replies = await Promise.all([
    hold({ ...TEXT, expiresInSeconds: 59 }),
    hold({ ...TEXT, onExpiry: "keep" }),
    settle(holdId, { quantity: 1, items: [{ feature: "text.generate", quantity: 1 }] }),
    settle(holdId, { quantity: -1 }),
    extend(holdId, { expiresAt: "tomorrow" }),
    extend(holdId, { expiresAt: "2030-01-01T00:00:00Z", expiresInSeconds: 60 }),
  ]);
  const fields = replies.map(({ body }) => (body["errors"] as { field: string }[])[0]?.field);
  expect(fields).toEqual(["expiresInSeconds", "onExpiry", "quantity", "quantity", "expiresAt", "expiresAt"]);
});
