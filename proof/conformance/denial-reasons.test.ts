import { expect, test } from "vitest";
import { endPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { blockCustomer } from "../../service/src/manage/customers/block-customer.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { brandAs, type CustomerId } from "../../service/src/primitives/brand.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import type { Reply } from "../../service/test/harness.ts";

// In each case, the expected reason and all later reasons apply, which also tests the order of the reasons.

const ADA = brandAs<CustomerId>("ada");

type Case = {
  readonly reason: string | null;
  readonly arrange: (credits: Credits) => Promise<unknown>;
  readonly body: object;
  readonly position: object;
};

/** Exceeds the limit of five a day and the balance. */
const BEYOND = { customerId: "ada", feature: "export.large", quantity: 6 };
const RESET = expect.stringMatching(/Z$/);
const UNUSED = { quantity: 5, used: 0, remaining: 5, resetsAt: RESET };

const CASES: readonly Case[] = [
  {
    reason: "customer_blocked",
    arrange: async ({ cell, context }) => {
      await endPlan(cell, context, { customerId: ADA });
      await blockCustomer(cell, context, { customerId: ADA, isBlocked: true });
    },
    body: BEYOND,
    position: { creditsRequired: 600, balance: 0, resetsAt: null, limit: null },
  },
  {
    reason: "customer_not_found",
    arrange: async () => {},
    body: { ...BEYOND, customerId: "nobody" },
    position: { creditsRequired: 600, balance: null, resetsAt: null, limit: null },
  },
  {
    reason: "no_active_plan",
    arrange: ({ cell, context }) => endPlan(cell, context, { customerId: ADA }),
    body: BEYOND,
    position: { creditsRequired: 600, balance: 0, resetsAt: null, limit: null },
  },
  {
    reason: "no_active_plan",
    // Credits purchased without a plan are kept, but cannot be used yet.
    arrange: ({ topUp }) => topUp("bob", 700),
    body: { ...BEYOND, customerId: "bob", quantity: 1 },
    position: { creditsRequired: 100, balance: 700, resetsAt: null, limit: null },
  },
  {
    reason: "feature_not_in_plan",
    arrange: async () => {},
    body: { ...BEYOND, feature: "video.render" },
    position: { creditsRequired: 300, balance: 100, resetsAt: RESET, limit: null },
  },
  {
    reason: "limit_reached",
    arrange: async () => {},
    body: BEYOND,
    position: { creditsRequired: 600, balance: 100, resetsAt: RESET, limit: UNUSED },
  },
  {
    reason: "insufficient_credits",
    arrange: async () => {},
    body: { ...BEYOND, quantity: 5 },
    position: { creditsRequired: 500, balance: 100, resetsAt: RESET, limit: UNUSED },
  },
  {
    reason: null,
    arrange: ({ topUp }) => topUp("ada", 400),
    body: { ...BEYOND, quantity: 5 },
    position: { creditsRequired: 500, balance: 500, resetsAt: RESET, limit: UNUSED },
  },
  {
    reason: "feature_not_in_plan",
    // An unknown customer is checked against the default plan.
    arrange: ({ cell, context }) => setDefaultPlan(cell, context, { plan: "pro" }),
    body: { ...BEYOND, feature: "video.render", customerId: "nobody" },
    position: { creditsRequired: 300, balance: 100, resetsAt: RESET, limit: null },
  },
];

test.each(CASES)("a check returns reason $reason with its balance and limit", async (one) => {
  const credits = await setupSale(one);
  const reply = await credits.check(one.body);
  expectDecision(reply, one);
  expect(reply.body).toMatchObject(one.position);
});

test.each(CASES)("a consume request returns reason $reason, and a denial charges nothing", async (one) => {
  const credits = await setupSale(one);
  const reply = await credits.consume({ ...one.body, idempotencyKey: "key-1" });
  expectDecision(reply, one);
  const isAllowed = one.reason === null;
  const charged = { consumeId: expect.stringMatching(/^con_/), creditsCharged: 500, balance: 0 };
  const nothing = { ...one.position, consumeId: null, creditsCharged: 0 };
  expect(reply.body).toMatchObject(isAllowed ? charged : nothing);
  expect(await credits.database.count("cell.ledger", "kind = 2")).toBe(isAllowed ? 1 : 0);
});

test("a denial is stored with the balance and price at that time", async () => {
  const { consume, database } = await setupCredits();
  await consume({ customerId: "ada", feature: "image.render", quantity: 11, idempotencyKey: "key-1" });
  expect(
    await database.query("select reason, credits_required, balance, quantity, sequence from cell.denials"),
  ).toEqual([{ reason: 6, credits_required: "110", balance: "100", quantity: 11, sequence: "1" }]);
});

/** A feature that costs 100 credits, with a limit of five a day. */
async function setupSale({ arrange }: Case): Promise<Credits> {
  const credits = await setupCredits();

  await defineFeature(credits.cell, credits.context, {
    key: "export.large",
    name: "Large export",
    unit: null,
    pool: "credits",
    cost: { credits: 100, per: 1 },
  });
  await credits.publish({
    reach: "now",
    features: [{ feature: "export.large", limit: { quantity: 5, period: "day" } }],
  });
  await arrange(credits);
  return credits;
}

function expectDecision({ status, body }: Reply, { reason, body: asked }: Case): void {
  expect(status).toBe(200);
  expect(body).toMatchObject({ ...asked, allowed: reason === null, reason });
}
