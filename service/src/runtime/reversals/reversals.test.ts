import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { post } from "../../../test/harness.ts";
import { expectVerified } from "../../../test/holds.ts";
import { ageCharges, setupReversals } from "../../../test/reversals.ts";
import { times } from "../../../test/two-services.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

const RENDER = { feature: "image.render", quantity: 3 }; // 30 credits
const ITEMS = [RENDER, { feature: "text.generate", quantity: 2_000 }]; // 30 + 6 credits

test("a whole charge is reversed once, and repeating the reversal returns the same bytes", async () => {
  const { charge, reverse, balance, database } = await setupReversals();
  const consumeId = await charge(RENDER);
  const first = await reverse(consumeId, { note: "The job failed" });
  expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
  expect(first.body).toEqual({
    consumeId,
    customerId: "ada",
    creditsReturned: 30,
    overageCredits: 0,
    items: [
      {
        feature: "image.render",
        quantity: 3,
        creditsReturned: 30,
        overageCredits: 0,
        pool: "credits",
        balance: 100,
      },
    ],
  });
  await charge({ feature: "image.render" });
  for (const body of [{ note: "The job failed" }, {}]) {
    const again = await reverse(consumeId, body);
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  }
  expect(await balance()).toBe(90);
  expect(await database.query("select amount, metadata from cell.ledger where kind = 5")).toEqual([
    { amount: "30", metadata: { note: "The job failed" } },
  ]);
  await expectSoundBooks(database);
  await expectVerified(database);
});

test("reversing a charge with several items reverses all of them", async () => {
  const { charge, reverse, balance, database } = await setupReversals();
  const consumeId = await charge({ items: ITEMS });
  const { body } = await reverse(consumeId);
  expect(body).toMatchObject({
    creditsReturned: 36,
    items: [
      { feature: "image.render", quantity: 3, creditsReturned: 30, balance: 100 },
      { feature: "text.generate", quantity: 2_000, creditsReturned: 6, balance: 100 },
    ],
  });
  expect(await balance()).toBe(100);
  await expectVerified(database);
});

test("each idempotency key reverses a part of a charge once, and never more than was charged", async () => {
  const { charge, reverse, balance, database, consume } = await setupReversals();
  const consumeId = await charge({ items: ITEMS });
  const part = { feature: "image.render", quantity: 2, idempotencyKey: "undo-1" };
  const first = await reverse(consumeId, part);
  expect(first.body).toEqual({
    ...{ consumeId, customerId: "ada", creditsReturned: 20, overageCredits: 0 },
    items: [
      {
        feature: "image.render",
        quantity: 2,
        creditsReturned: 20,
        overageCredits: 0,
        pool: "credits",
        balance: 84,
      },
    ],
  });
  for (const body of [part, { ...part, note: "Again" }]) {
    const again = await reverse(consumeId, body);
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  }
  for (const change of [{ quantity: 1 }, { feature: "text.generate" }, { customerId: "eve" }])
    expect((await reverse(consumeId, { ...part, ...change })).body).toMatchObject({
      code: "idempotency_key_reused",
      conflict: "payload",
    });
  const charged = await consume({ customerId: "ada", feature: "export", idempotencyKey: "undo-1" });
  expect(charged.body).toMatchObject({ status: 409, conflict: "endpoint" });
  const more = await reverse(consumeId, { ...part, idempotencyKey: "undo-2" });
  expect(more.body).toMatchObject({ status: 409, code: "nothing_to_reverse", reversible: 1 });
  expect(await balance()).toBe(84);
  // The rest: one image and the text.
  expect((await reverse(consumeId)).body).toMatchObject({ creditsReturned: 16 });
  const late = await reverse(consumeId, { ...part, quantity: 1, idempotencyKey: "undo-3" });
  expect(late.body).toMatchObject({ code: "nothing_to_reverse", reversible: 0 });
  expect(await balance()).toBe(100);
  await expectVerified(database);
});

test("an idempotency key used on another endpoint or in another environment is rejected, and changes nothing", async () => {
  const { charge, reverse, balance, consume, project, manage, service } = await setupReversals();
  const consumeId = await charge(RENDER);
  const used = await consume({ customerId: "ada", feature: "export", idempotencyKey: "used" });
  expect(used.body["allowed"]).toBe(true);
  const part = { quantity: 1, idempotencyKey: "used" };
  expect((await reverse(consumeId, part)).body).toMatchObject({ status: 409, conflict: "endpoint" });
  const here = `/manage/v1/projects/${project.projectId}/live/api-keys`;
  const live = await manage("POST", here, { body: { name: "Refunds", scopes: ["reverse"] } });
  await reverse(consumeId, { ...part, idempotencyKey: "undo" });
  const elsewhere = (body: object) =>
    post(`${service.url}/v1/consume/${consumeId}/reverse`, String(live.body["secret"]), body);
  const crossed = await elsewhere({ customerId: "ada", quantity: 1, idempotencyKey: "undo" });
  expect(crossed.body).toMatchObject({ status: 409, conflict: "environment" });
  expect((await elsewhere({ customerId: "ada" })).body).toMatchObject({ code: "charge_not_found" });
  expect(await balance()).toBe(80);
});

test("an unknown charge, or another customer's charge, is not found", async () => {
  const { charge, reverse, assign, balance, database } = await setupReversals();
  const consumeId = await charge(RENDER);
  await assign("eve");
  const unknown = `${consumeId.slice(0, -1)}${consumeId.endsWith("0") ? "1" : "0"}`;
  const asked: [string, object][] = [
    [unknown, {}],
    ["con_1", {}],
    ["nonsense", { quantity: 1, idempotencyKey: "k" }],
    [consumeId, { customerId: "eve" }],
    [consumeId, { customerId: "eve", quantity: 1, idempotencyKey: "k" }],
    [consumeId, { customerId: "nobody" }],
    [consumeId, { feature: "export", quantity: 1, idempotencyKey: "k" }],
    [consumeId, { feature: "no.such", quantity: 1, idempotencyKey: "k" }],
  ];
  for (const [id, body] of asked)
    expect([id, body, (await reverse(id, body)).body]).toMatchObject([
      id,
      body,
      { status: 404, code: "charge_not_found" },
    ]);
  await reverse(consumeId);
  // Another customer does not get the response to this customer's reversal.
  expect((await reverse(consumeId, { customerId: "eve" })).body["code"]).toBe("charge_not_found");
  expect(await balance()).toBe(100);
  expect(await database.count("cell.customers", "customer_id = 'nobody'")).toBe(0);
});

test("the error for an invalid request names the field", async () => {
  const { charge, reverse, balance } = await setupReversals();
  const consumeId = await charge({ items: ITEMS });
  const refused: [object, string][] = [
    [{ quantity: 1, feature: "image.render" }, "idempotencyKey"],
    [{ quantity: 1, idempotencyKey: "k" }, "feature"],
    [{ feature: "image.render", idempotencyKey: "k" }, "quantity"],
    [{ idempotencyKey: "k" }, "idempotencyKey"],
    [{ quantity: 0, feature: "image.render", idempotencyKey: "k" }, "quantity"],
    [{ item: 0 }, "item"],
    [{ customerId: "a\u0000b" }, "customerId"],
    [{ note: "a\u0000b" }, "note"],
  ];
  for (const [body, field] of refused)
    expect([body, (await reverse(consumeId, body)).body]).toMatchObject([
      body,
      { status: 400, code: "invalid_request", errors: expect.arrayContaining([{ ...FIELD, field }]) },
    ]);
  expect(await balance()).toBe(64);
});

const FIELD = { code: expect.any(String), message: expect.any(String) };

test("charges from the last 35 days can be reversed, and older charges cannot", async () => {
  const reversals = await setupReversals();
  const { charge, reverse, database } = reversals;
  const [old, reversed] = [await charge(RENDER), await charge(RENDER)];
  const almost = await ageCharges(reversals, 35 * DAY_MS - 60_000);
  expect((await reverse(almost(reversed))).body).toMatchObject({ creditsReturned: 30 });
  const older = await ageCharges(reversals, 60_000);
  for (const body of [{}, { quantity: 1, idempotencyKey: "undo" }])
    expect((await reverse(older(almost(old)), body)).body).toMatchObject({
      status: 422,
      code: "charge_too_old",
    });
  expect(await database.count("cell.ledger", "kind = 5")).toBe(1);
});

test("an API key needs the `reverse` scope to reverse a charge, and no key has that scope by default", async () => {
  const { charge, reverse, project, service, manage } = await setupReversals();
  const consumeId = await charge(RENDER);
  const url = `${service.url}/v1/consume/${consumeId}/reverse`;
  const reply = await post(url, project.test.key.secret, { customerId: "ada" });
  expect(reply.body).toMatchObject({ status: 403, code: "scope_missing" });
  const made = await manage("POST", "/manage/v1/projects", { body: { name: "Second" } });
  const second = `/manage/v1/projects/${(made.body["project"] as { id: string }).id}/live/api-keys`;
  const keys = await manage("GET", second);
  expect(keys.body["items"]).toMatchObject([{ scopes: ["check", "consume", "events"] }]);
  expect((await reverse(consumeId)).status).toBe(200);
});

test("the reversal of a settled hold undoes the uncovered part first", async () => {
  const { charge, reverse, balance, database, project, service } = await setupReversals();
  const call = async (path: string, body: object) =>
    post(`${service.url}/v1/${path}`, project.test.key.secret, { customerId: "ada", ...body });
  const hold = await call("holds", { feature: "image.render", quantity: 4, idempotencyKey: "h" });
  await charge({ feature: "image.render", quantity: 5 });
  const settled = await call(`holds/${hold.body["holdId"]}/settle`, { quantity: 6 });
  expect(settled.body).toMatchObject({ creditsCharged: 50, creditsUncovered: 10 });
  const consumeId = String(settled.body["consumeId"]);
  const one = await reverse(consumeId, { quantity: 1, idempotencyKey: "undo" });
  expect(one.body).toMatchObject({ creditsReturned: 0, items: [{ quantity: 1, balance: 0 }] });
  expect((await reverse(consumeId)).body).toMatchObject({ creditsReturned: 50 });
  expect(await balance()).toBe(50);
  await expectVerified(database);
});

test("a backend's and an operator's reversals of a charge never return more than was charged, in any order", async () => {
  const { charge, reverse, reverseByHand, balance, database } = await setupReversals();
  const first = await charge(RENDER);
  expect((await reverseByHand(first)).body).toMatchObject({ outcome: "reversed", credits: 30 });
  expect((await reverse(first)).body).toMatchObject({ code: "nothing_to_reverse", reversible: 0 });
  const second = await charge(RENDER);
  expect((await reverseByHand(second, { quantity: 1 })).status).toBe(200);
  expect((await reverse(second)).body).toMatchObject({ creditsReturned: 20 });
  expect((await reverseByHand(second)).body).toMatchObject({ code: "nothing_to_reverse" });
  expect((await reverse(second)).body).toMatchObject({ creditsReturned: 20 });
  expect(await balance()).toBe(100);
  await expectVerified(database);
});

test("until the upgrade is finished, a reversal is rejected and changes nothing", async () => {
  const { charge, reverse, balance, database } = await setupReversals();
  const consumeId = await charge(RENDER);
  await database.query("update cell.identity set data_format = 1");
  expect((await reverse(consumeId)).body).toMatchObject({ status: 409, code: "upgrade_unfinished" });
  expect(await balance()).toBe(70);
});

test("a burst of reversals does not block operators: the excess gets 503", {
  timeout: 60_000,
}, async () => {
  const { charge, reverse, manage, database } = await setupReversals();
  const consumeId = await charge({ feature: "image.render", quantity: 10 });
  const burst = times(400, (i) => reverse(consumeId, { quantity: 1, idempotencyKey: `burst-${i}` }));
  const added = await manage("POST", "customers/bob/credits", { body: { kind: "manual", credits: 1 } });
  expect(added.status).toBe(200);
  const replies = (await Promise.all(burst)).map(({ status, body }) => `${status} ${body["code"] ?? ""}`);
  expect([...new Set(replies)].sort()).toEqual(["200 ", "409 nothing_to_reverse", "503 overloaded"]);
  expect(replies.filter((reply) => reply === "200 ")).toHaveLength(10);
  expect(await database.count("cell.ledger", "kind = 5")).toBe(10);
});
