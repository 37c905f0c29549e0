import { expect, test } from "vitest";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { expectSoundBooks } from "../../service/test/books.ts";
import { setupCredits } from "../../service/test/credits.ts";
import { countAllowed, setupTwo, times } from "../../service/test/two-services.ts";
import { expectReplay } from "./replay.ts";

// Requests with `items`: reversal, concurrency, and the upgrade from a release without them.

const RENDER = { feature: "image.render", quantity: 2 };
const TEXT = { feature: "text.generate", quantity: 1_500 };
const EXPORT = { feature: "export" };
const ADA = { customerId: "ada", idempotencyKey: "key-1" };
const BODY = { ...ADA, items: [RENDER, TEXT, EXPORT] };

test("an operator can reverse a whole request, or a quantity of one item", async () => {
  const credits = await setupCredits();
  const { consume, check, cell, context } = credits;
  const consumeId = String((await consume(BODY)).body["consumeId"]);
  const reverse = (item: number | null, quantity: number | null) =>
    reverseConsume(cell, context, { consumeId, item, quantity });
  expect(await reverse(null, 1)).toEqual({ kind: "item_required" });
  expect(await reverse(3, null)).toEqual({ kind: "consume_not_found" });
  expect(await reverse(0, 1)).toMatchObject({ credits: 10, items: [{ item: 0, quantity: 1, credits: 10 }] });
  expect(await reverse(null, null)).toMatchObject({
    kind: "reversed",
    items: [
      { item: 0, quantity: 1, credits: 10 },
      { item: 1, quantity: 1_500, credits: 5 },
      { item: 2, quantity: 1, credits: 0 },
    ],
  });
  expect(await reverse(null, null)).toEqual({ kind: "nothing_left" });
  expect((await check({ ...ADA, ...EXPORT })).body).toMatchObject({ balance: 100, limit: { used: 0 } });
  await expectSoundBooks(credits.database);
});

test("concurrent requests with items never overspend and are never charged in part", async () => {
  const { consumeAt, database } = await setupTwo();
  // 25 credits each, so 100 credits pay for four requests.
  const items = [RENDER, { feature: "text.generate", quantity: 1_666 }];
  const replies = await Promise.all(
    times(40, (i) => consumeAt(i, { customerId: "ada", idempotencyKey: `race-${i}`, items })),
  );
  expect(countAllowed(replies)).toBe(4);
  expect(await database.count("cell.ledger", "kind = 2")).toBe(8);
  await expectSoundBooks(database);
});

test("until the upgrade is finished, requests with items are rejected, and denials keep their old format", async () => {
  const { database, consume } = await setupCredits({}, async (unfinished) => {
    await unfinished.query("update cell.identity set data_format = 1");
  });
  expect(await consume(BODY)).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  const denied = await consume({ ...ADA, feature: "image.render", quantity: 11, idempotencyKey: "old" });
  expect(denied.text).toMatch(/"limit":null,"consumeId":null,"creditsCharged":0}$/);
  expect(await database.count("cell.keyed_requests", "answer_format = 2")).toBe(1);
  await database.query("update cell.identity set data_format = 2");
  expect((await consume(BODY)).body["allowed"]).toBe(true);
  await expectReplay(
    consume({ ...ADA, feature: "image.render", quantity: 11, idempotencyKey: "old" }),
    denied,
  );
});
