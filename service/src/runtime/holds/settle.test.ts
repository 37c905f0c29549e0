import { expect, test } from "vitest";
import { expectVerified, expireHolds, setupHolds, windBackHolds } from "../../../test/holds.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

const TEXT = { feature: "text.generate", quantity: 10_000 }; // 30 credits

test("a settlement charges what was used and releases the rest of the hold", async () => {
  const { open, settle, balance, database } = await setupHolds();
  const holdId = await open(TEXT);
  const reply = await settle(holdId, { quantity: 4_000, metadata: { model: "small" } });
  expect(reply.body).toEqual({
    holdId,
    customerId: "ada",
    status: "settled",
    late: false,
    creditsCharged: 12,
    creditsReleased: 18,
    overageCredits: 0,
    creditsBeyondHold: 0,
    creditsUncovered: 0,
    items: [
      {
        feature: "text.generate",
        quantity: 4_000,
        creditsRequired: 12,
        creditsCharged: 12,
        overageCredits: 0,
        creditsBeyondHold: 0,
        creditsUncovered: 0,
        pool: "credits",
        balance: 88,
      },
    ],
    consumeId: expect.stringMatching(/^con_/),
  });
  expect(await balance()).toBe(88);
  expect(
    await database.query("select amount, quantity, metadata, hold_number from cell.ledger where kind = 2"),
  ).toEqual([{ amount: "-12", quantity: 4000, metadata: { model: "small" }, hold_number: 1 }]);
  await expectVerified(database);
});

test("repeating a settlement returns the same bytes, and a different settlement is rejected", async () => {
  const { open, settle, release, extend, balance } = await setupHolds();
  const holdId = await open(TEXT);
  const first = await settle(holdId, { quantity: 4_000, metadata: { attempt: 1 } });
  const again = await settle(holdId, { quantity: 4_000, metadata: { attempt: 2 } });
  expect(again.text).toBe(first.text);
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const others = [
    settle(holdId, { quantity: 4_001 }),
    settle(holdId),
    settle(holdId, { quantity: 4_000, atMostHeld: true }),
    release(holdId),
    extend(holdId, { quantity: 20_000 }),
  ];
  for (const other of await Promise.all(others))
    expect(other.body).toMatchObject({ status: 409, code: "hold_settled" });
  expect(await balance()).toBe(88);
});

test("a settlement without a quantity charges the full hold, and a quantity of 0 charges nothing", async () => {
  const { open, settle, balance, database } = await setupHolds();
  const whole = await settle(await open(TEXT));
  expect(whole.body).toMatchObject({ creditsCharged: 30, creditsReleased: 0 });
  const none = await settle(await open(TEXT), { quantity: 0 });
  expect(none.body).toMatchObject({ creditsCharged: 0, creditsReleased: 30, consumeId: null });
  expect(await balance()).toBe(70);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(1);
  await expectVerified(database);
});

test("a settlement beyond the hold takes other credits, and any remaining price is uncovered", async () => {
  const { open, settle, balance, consume, database } = await setupHolds();
  const beyond = await settle(await open(TEXT), { quantity: 20_000 });
  expect(beyond.body).toMatchObject({ creditsCharged: 60, creditsBeyondHold: 30, creditsUncovered: 0 });
  const second = await open(TEXT);
  const uncovered = await settle(second, { quantity: 20_000 });
  expect(uncovered.body).toMatchObject({ creditsCharged: 40, creditsBeyondHold: 30, creditsUncovered: 20 });
  expect(await balance()).toBe(0);
  const charge = { customerId: "ada", feature: "image.render", idempotencyKey: "c1" };
  expect((await consume(charge)).body["reason"]).toBe("insufficient_credits");
  await expectVerified(database);
});

test("with atMostHeld, a settlement takes no other credits", async () => {
  const { open, settle, balance, database } = await setupHolds();
  const reply = await settle(await open(TEXT), { quantity: 20_000, atMostHeld: true });
  expect(reply.body).toMatchObject({ creditsCharged: 30, creditsBeyondHold: 30, creditsUncovered: 30 });
  expect(await balance()).toBe(70);
  await expectVerified(database);
});

test("a release returns all credits of the hold, and is safe to repeat", async () => {
  const { open, release, settle, balance, database } = await setupHolds();
  const holdId = await open(TEXT);
  const first = await release(holdId);
  expect(first.body).toMatchObject({
    status: "released",
    creditsCharged: 0,
    creditsReleased: 30,
    consumeId: null,
  });
  const again = await release(holdId);
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await settle(holdId)).body).toMatchObject({ status: 409, code: "hold_released" });
  expect(await balance()).toBe(100);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(0);
  await expectVerified(database);
});

test("a hold that expires releases its credits, and can still be settled late", async () => {
  const { open, settle, release, extend, read, balance, database } = await setupHolds();
  const holdId = await open(TEXT);
  await expireHolds(database);
  expect(await balance()).toBe(100);
  expect((await read(`/v1/holds/${holdId}`)).body).toMatchObject({ status: "expired", creditsReleased: 30 });
  expect((await extend(holdId, { quantity: 20_000 })).body["code"]).toBe("hold_expired");
  expect((await release(holdId)).body["code"]).toBe("hold_expired");
  const late = await settle(holdId, { quantity: 4_000 });
  expect(late.body).toMatchObject({
    late: true,
    creditsCharged: 12,
    creditsReleased: 0,
    creditsBeyondHold: 12,
  });
  expect((await settle(holdId, { quantity: 4_000 })).text).toBe(late.text);
  expect(await balance()).toBe(88);
  await expectVerified(database);
});

test("after 35 days, a hold that expired can no longer be settled", async () => {
  const { open, settle, database } = await setupHolds();
  const holdId = await open(TEXT);
  const rename = await windBackHolds(database, 36 * DAY_MS);
  expect((await settle(rename(holdId))).body).toMatchObject({ status: 409, code: "hold_expired" });
});

test("a hold with `onExpiry: charge` is charged in full when it expires", async () => {
  const { open, settle, release, read, balance, database } = await setupHolds();
  const holdId = await open({ ...TEXT, onExpiry: "charge" });
  await expireHolds(database);
  expect(await balance()).toBe(70);
  expect((await read(`/v1/holds/${holdId}`)).body).toMatchObject({ status: "charged", creditsCharged: 30 });
  expect((await settle(holdId, { quantity: 1 })).body["code"]).toBe("hold_settled");
  expect((await release(holdId)).body["code"]).toBe("hold_expired");
  const [entry] = await database.query("select amount, hold_number from cell.ledger where kind = 2");
  expect(entry).toEqual({ amount: "-30", hold_number: 1 });
  const { consumeId } = (await read(`/v1/holds/${holdId}`)).body;
  expect(consumeId).toMatch(/^con_/);
  await expectVerified(database);
});

test("a hold on several features is settled with items, and a feature that is not listed is not charged", async () => {
  const { hold, settle, extend, balance, database } = await setupHolds();
  const items = [
    { feature: "text.generate", quantity: 10_000 },
    { feature: "image.render", quantity: 2 },
  ];
  const reply = await hold({ items });
  expect(reply.body).toMatchObject({ allowed: true, deniedItem: null });
  expect(reply.body["items"]).toMatchObject([{ creditsHeld: 30 }, { creditsHeld: 20, balance: 50 }]);
  const holdId = String(reply.body["holdId"]);
  for (const body of [{ quantity: 1 }, { items: [{ feature: "export", quantity: 1 }] }])
    expect((await settle(holdId, body)).body).toMatchObject({ status: 422, code: "hold_items_mismatch" });
  expect((await extend(holdId, { quantity: 20_000 })).body["code"]).toBe("hold_items_mismatch");
  const settled = await settle(holdId, { items: [{ feature: "image.render", quantity: 1 }] });
  expect(settled.body).toMatchObject({
    creditsCharged: 10,
    creditsReleased: 40,
    items: [{ quantity: 0 }, { quantity: 1 }],
  });
  expect(await balance()).toBe(90);
  await expectVerified(database);
});

test("a blocked customer's settlement takes no credits beyond the hold", async () => {
  const { open, settle, balance, database } = await setupHolds();
  const holdId = await open(TEXT);
  await database.query("update cell.wallets set is_blocked = true");
  const reply = await settle(holdId, { quantity: 20_000 });
  expect(reply.body).toMatchObject({ creditsCharged: 30, creditsUncovered: 30 });
  expect(await balance()).toBe(70);
});
