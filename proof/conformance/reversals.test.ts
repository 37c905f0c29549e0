import { expect, test } from "vitest";
import { expectVerified } from "../../service/test/holds.ts";
import { ageCharges, setupReversals } from "../../service/test/reversals.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

// Reversals with an API key. Each rule has one test.

const IMAGES = { feature: "image.render", quantity: 4 }; // 40 credits
const ITEMS = [IMAGES, { feature: "export", quantity: 2 }]; // 40 credits, and 2 of 5 a day

test("a reversal needs the `reverse` scope, which the other scopes do not include", async () => {
  const { charge, reverse, database } = await setupReversals();
  const consumeId = await charge(IMAGES);
  await database.query("update control.api_keys set scopes = '{check,consume,events}'");
  const status = async () => (await reverse(consumeId.replace("con_", "con_x"))).status;
  // The service caches the key for a few seconds.
  await expect.poll(status, { timeout: 30_000 }).toBe(403);
  const changed = await changedTables(database, async () => {
    expect((await reverse(consumeId)).body["code"]).toBe("scope_missing");
  });
  expect(changed).toEqual([]);
});

test("a reversal with an API key returns a whole request, or a quantity of one item", async () => {
  const { charge, reverse, balance, check, database } = await setupReversals();
  const used = async () =>
    (await check({ customerId: "ada", feature: "export" })).body["limit"] as { used: number };
  const first = await charge({ items: ITEMS });
  expect(await used()).toMatchObject({ used: 2 });
  expect((await reverse(first)).body["creditsReturned"]).toBe(40);
  expect([await balance(), await used()]).toMatchObject([100, { used: 0 }]);
  const second = await charge({ items: ITEMS });
  const one = { feature: "export", quantity: 1, idempotencyKey: "undo" };
  expect((await reverse(second, one)).body["creditsReturned"]).toBe(0);
  expect([await balance(), await used()]).toMatchObject([60, { used: 1 }]);
  await expectVerified(database);
});

test("repeating the reversal of a whole charge returns the same bytes and changes nothing", async () => {
  const { charge, reverse, database } = await setupReversals();
  const consumeId = await charge({ items: ITEMS });
  const first = await reverse(consumeId);
  const changed = await changedTables(database, async () => {
    for (const note of ["again", "and again"]) {
      const again = await reverse(consumeId, { note });
      expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    }
  });
  expect(changed).toEqual([]);
});

test("reversing a quantity needs an idempotency key, and a reused key with another payload changes nothing", async () => {
  const { charge, reverse, database } = await setupReversals();
  const consumeId = await charge(IMAGES);
  const other = await charge(IMAGES);
  const part = { quantity: 1, idempotencyKey: "undo" };
  const first = await reverse(consumeId, part);
  const changed = await changedTables(database, async () => {
    expect((await reverse(consumeId, { quantity: 1 })).body).toMatchObject({ status: 400 });
    expect((await reverse(consumeId, part)).text).toBe(first.text);
    for (const reply of [await reverse(other, part), await reverse(consumeId, { ...part, quantity: 2 })])
      expect(reply.body).toMatchObject({ code: "idempotency_key_reused", conflict: "payload" });
    expect((await reverse(consumeId, { ...part, quantity: 4, idempotencyKey: "more" })).body).toMatchObject({
      code: "nothing_to_reverse",
      reversible: 3,
    });
  });
  expect(changed).toEqual([]);
});

test("charges from the last 35 days can be reversed, and older charges cannot", async () => {
  const reversals = await setupReversals();
  const { charge, reverse, database } = reversals;
  const [old, young] = [await charge(IMAGES), await charge(IMAGES)];
  const almost = await ageCharges(reversals, 35 * DAY_MS - 60_000);
  expect((await reverse(almost(young))).body["creditsReturned"]).toBe(40);
  const older = await ageCharges(reversals, 60_000);
  const changed = await changedTables(database, async () => {
    expect((await reverse(older(almost(old)))).body["code"]).toBe("charge_too_old");
  });
  expect(changed).toEqual([]);
});

test("another customer's charge is reported as not found", async () => {
  const { charge, reverse, assign } = await setupReversals();
  await assign("eve");
  const consumeId = await charge(IMAGES);
  const [foreign, missing] = [
    await reverse(consumeId, { customerId: "eve" }),
    await reverse("con_00000000000000000000000000", { customerId: "eve" }),
  ];
  const plain = ({ status, body }: typeof foreign) => [status, { ...body, requestId: "" }];
  expect(plain(foreign)).toEqual(plain(missing));
  expect(foreign.status).toBe(404);
});

test("credits returned after the end of their period expire immediately", async () => {
  const reversals = await setupReversals();
  const { charge, reverse, balance, database } = reversals;
  const consumeId = await charge(IMAGES);
  await windBack(database, 31 * DAY_MS);
  expect(await balance()).toBe(100);
  expect((await reverse(consumeId)).body).toMatchObject({ creditsReturned: 40, items: [{ balance: 100 }] });
  expect(await balance()).toBe(100);
});

test("the audit log shows the API key as the actor of a reversal", async () => {
  const { charge, reverse, database } = await setupReversals();
  await reverse(await charge(IMAGES));
  expect(
    await database.query(
      `select a.actor_kind, k.name, a.action from cell.audit as a
       join control.api_keys as k on k.id = a.actor_id::integer
       where a.action = 'consume.reversed'`,
    ),
  ).toEqual([{ actor_kind: "api_key", name: "Refunds", action: "consume.reversed" }]);
});
