import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupCredits } from "../../../test/credits.ts";
import type { Reply } from "../../../test/harness.ts";
import { rounds } from "../../../test/rounds.ts";
import { setupTwo, times } from "../../../test/two-services.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

const RENDER = { customerId: "ada", feature: "image.render", idempotencyKey: "key-1" };

test("if two processes receive one key with different quantities, one request is charged and the others get 409", async () => {
  const { consumeAt, topUp, database } = await setupTwo();
  await topUp("ada", 100_000);
  for (const round of rounds(10)) {
    const replies = await Promise.all(
      times(16, (i) => consumeAt(i, { ...RENDER, quantity: i + 1, idempotencyKey: `round-${round}` })),
    );
    expect(tally(replies)).toEqual({ 200: 1, 409: 15 });
    const conflicts = replies.filter(({ status }) => status === 409).map(({ body }) => body["conflict"]);
    expect(new Set(conflicts)).toEqual(new Set(["payload"]));
    expect(await database.count("cell.ledger", "kind = 2")).toBe(round + 1);
  }
  await expectSoundBooks(database);
});

test("if concurrent requests use one key for different customers, only one request is charged", async () => {
  const { consumeAt, assign, database } = await setupTwo();
  const customers = times(16, (i) => `customer-${i}`);
  for (const customer of customers) await assign(customer);
  for (const round of rounds(10)) {
    const replies = await Promise.all(
      customers.map((customerId, i) =>
        consumeAt(i, { ...RENDER, customerId, idempotencyKey: `round-${round}` }),
      ),
    );
    expect(tally(replies)).toEqual({ 200: 1, 409: 15 });
    const charged = await database.count("cell.ledger", "kind = 2");
    expect(charged + (await database.count("cell.denials"))).toBe(round + 1);
  }
  await expectSoundBooks(database);
});

test("a request rejected with 409 writes no rows and does not create the customer", async () => {
  const { consume, cell, context, database } = await setupCredits({ LANES: "1" });
  await setDefaultPlan(cell, context, { plan: "pro" });
  const replies = await Promise.all(times(20, (i) => consume({ ...RENDER, customerId: `new-${i}` })));
  expect(tally(replies)).toEqual({ 200: 1, 409: 19 });
  expect(await database.count("cell.customers", "customer_id like 'new-%'")).toBe(1);
});

test("a 409 among 40 concurrent requests charges nothing and does not make any other request fail", async () => {
  const { consume, database } = await setupCredits({ LANES: "1" });
  await consume(RENDER);
  const replies = await Promise.all(
    times(40, (i) =>
      consume({
        customerId: "ada",
        feature: "text.generate",
        idempotencyKey: i === 17 ? RENDER.idempotencyKey : `key-${i + 100}`,
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(times(40, (i) => (i === 17 ? 409 : 200)));
  expect(await database.query("select balance from cell.wallets")).toEqual([{ balance: "51" }]);
});

function tally(replies: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
