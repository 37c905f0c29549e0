import { expect, test } from "vitest";
import { setupReversals } from "../../../test/reversals.ts";

// These tests cover how the management API shows a reversal that a backend made with its API key.

const RENDER = { feature: "image.render", quantity: 3 }; // 30 credits

async function setup() {
  const reversals = await setupReversals();
  const logged = (count: number) =>
    expect.poll(() => reversals.database.count("cell.request_log"), { interval: 50 }).toBe(count);
  return { ...reversals, logged };
}

test("the audit log names the API key that reversed a charge, and can be filtered by it", async () => {
  const { charge, reverse, reverseByHand, manage } = await setup();
  const consumeId = await charge(RENDER);
  const reply = await reverse(consumeId, { quantity: 1, idempotencyKey: "undo" });
  await reverseByHand(consumeId, { quantity: 1 });
  const keys = await manage("GET", "api-keys?limit=1");
  const [{ id } = { id: "" }] = keys.body["items"] as { id: string }[];
  const { body } = await manage("GET", `audit?actor=api_key:${id}&customerId=ada`);
  expect(body["items"]).toEqual([
    expect.objectContaining({
      actor: { kind: "api_key", id, name: "Refunds" },
      action: "consume.reversed",
      subject: consumeId,
      customerId: "ada",
      requestId: reply.headers.get("x-request-id"),
      after: expect.objectContaining({ credits: 10, quantity: 1, balances: { credits: 80 } }),
    }),
  ]);
  expect((await manage("GET", `audit?actor=api_key:${Number(id) + 1}`)).body["items"]).toEqual([]);
  const whole = (await manage("GET", "/manage/v1/audit?action=consume.reversed")).body["items"];
  expect(whole).toMatchObject([
    { actor: { kind: "token" } },
    { actor: { kind: "api_key", name: "Refunds" } },
  ]);
});

test("the ledger shows the idempotency key and the note of a reversal", async () => {
  const { charge, reverse, manage } = await setup();
  const consumeId = await charge({ ...RENDER, memberId: "user_7" });
  await reverse(consumeId, { quantity: 1, idempotencyKey: "undo", note: "One image was blank" });
  await reverse(consumeId);
  const shared = { kind: "reverse", reverses: consumeId, memberId: "user_7" };
  const { body } = await manage("GET", "customers/ada/ledger?kind=reverse");
  expect(body["items"]).toMatchObject([
    { ...shared, amount: 20, idempotencyKey: null, metadata: null },
    { ...shared, amount: 10, idempotencyKey: "undo", metadata: { note: "One image was blank" } },
  ]);
});

test("a reversal's idempotency key shows the reversed charge and the fields in which a rejected reuse differs", async () => {
  const { charge, reverse, manage, consume, logged } = await setup();
  const consumeId = await charge({ ...RENDER, memberId: "user_7", metadata: { job: 1 } });
  const other = await charge(RENDER);
  const part = { quantity: 1, idempotencyKey: "undo" };
  const first = await reverse(consumeId, part);
  await reverse(consumeId, part);
  await reverse(consumeId, { ...part, quantity: 2 });
  await reverse(other, part);
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "undo" });
  await logged(7);
  const story = (await manage("GET", "keys/undo")).body;
  expect(story).toMatchObject({
    ...{ state: "kept", endpoint: "consume/reverse", customerId: "ada" },
    charge: { consumeId, quantity: 3, reversedQuantity: 1 },
    denial: null,
    hold: null,
  });
  expect(JSON.stringify(story["answer"])).toBe(first.text);
  const uses = story["uses"] as { endpoint: string; refused: { differs: string[] } | null }[];
  expect(uses.map(({ endpoint, refused }) => [endpoint, refused?.differs ?? null])).toEqual([
    ["consume", ["endpoint"]],
    ["consume/reverse", ["consumeId"]],
    ["consume/reverse", ["quantity"]],
    ["consume/reverse", null],
    ["consume/reverse", null],
  ]);
  const found = await manage("GET", "search?q=undo");
  expect(found.body["keys"]).toMatchObject([{ idempotencyKey: "undo", endpoint: "consume/reverse" }]);
  const requests = await manage("GET", "requests?endpoint=consume/reverse");
  expect(requests.body["items"]).toHaveLength(4);
});

test("erasing the customer erases the keys and notes of reversals, and the charge is no longer found", async () => {
  const { charge, reverse, manage, database } = await setup();
  const consumeId = await charge(RENDER);
  await reverse(consumeId, { quantity: 1, idempotencyKey: "undo-ada", note: "Ada complained" });
  await reverse(consumeId, { note: "Ada complained" });
  expect((await manage("DELETE", "customers/ada")).status).toBe(200);
  expect((await reverse(consumeId)).body).toMatchObject({ code: "charge_not_found" });
  expect(await database.count("cell.keyed_requests", "key = 'undo-ada'")).toBe(0);
  expect(await database.count("cell.ledger", "metadata is not null")).toBe(0);
});
