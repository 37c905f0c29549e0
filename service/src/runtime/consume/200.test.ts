import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";

test("an allowed consume request is charged and written to the ledger", async () => {
  const { consume, database } = await setupCredits();
  const reply = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k1" });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    allowed: true,
    reason: null,
    customerId: "ada",
    feature: "image.render",
    quantity: 1,
    creditsRequired: 10,
    balance: 90,
    resetsAt: expect.stringMatching(/Z$/),
    limit: null,
    consumeId: expect.stringMatching(/^con_[0-9a-z]{26}$/),
    creditsCharged: 10,
  });
  expect(
    await database.query(
      "select sequence, kind, amount, balance_after, parts from cell.ledger order by sequence",
    ),
  ).toEqual([
    { sequence: "1", kind: 1, amount: "100", balance_after: "100", parts: "1:100" },
    { sequence: "2", kind: 2, amount: "-10", balance_after: "90", parts: "1:-10" },
  ]);
});
