import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { post } from "../../../test/harness.ts";
import { rounds } from "../../../test/rounds.ts";
import { PRO } from "../../../test/seed.ts";
import { countAllowed, setupTwo, type TwoServices, times } from "../../../test/two-services.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("no consume request is wrongly denied while plans are published and assigned", async () => {
  const two = await setupTwo();
  const { publish, assign, renderAt, database } = two;
  const rich = [{ pool: "credits", credits: 1_000_000, period: "month", rollover: 0, overage: 0 }] as const;
  await publish({ reach: "now", allowances: rich });
  await publish({ key: "team", name: "Team", allowances: rich });
  const customers = times(10, (i) => `customer-${i}`);
  for (const customer of customers) await assign(customer);
  for (const round of rounds(3)) {
    const edits = editAll(two, customers, round);
    const consumes = times(100, async (i) => {
      await pause(i);
      return renderAt(i, { customerId: customers[i % customers.length] });
    });
    expect(countAllowed(await Promise.all(consumes))).toBe(100);
    await edits;
  }
  await expectSoundBooks(database);
});

/** Each change keeps the customer's plan, or replaces it with an equivalent plan. */
async function editAll(
  { cell, context, publish, assign }: TwoServices,
  customers: readonly string[],
  round: number,
): Promise<void> {
  const allowances = [
    { pool: "credits", credits: 1_000_000 + round, period: "month", rollover: 0, overage: 0 },
  ] as const;
  for (const [index, customer] of customers.entries()) {
    const reach = index % 2 === 0 ? "now" : "next_period";
    await publish({ reach, allowances });
    await publish({ key: "team", name: "Team", reach, allowances });
    await assign(customer, index % 3 === 0 ? "team" : "pro");
    await setDefaultPlan(cell, context, { plan: index % 2 === 0 ? "pro" : "team" });
  }
}

test("a catalog edit takes effect at the next request in both processes, for consume and check", async () => {
  const two = await setupTwo();
  const { cell, context, publish, topUp, renderAt, urls, project } = two;
  await topUp("ada", 1_000_000);
  const render = { customerId: "ada", feature: "image.render" };
  for (const round of rounds(10)) {
    const cost = { credits: round + 1, per: 1 };
    await defineFeature(cell, context, {
      key: "image.render",
      name: "Render",
      unit: null,
      pool: "credits",
      cost,
    });
    // A plan keeps its pinned cost until it is published again.
    const before = await renderAt(round);
    expect(before.body).toMatchObject({ allowed: true, creditsCharged: round === 0 ? 10 : round });
    await publish({ reach: "now" });
    const replies = [
      await renderAt(round),
      await renderAt(round + 1),
      await post(`${urls[0]}/v1/check`, project.test.key.secret, render),
      await post(`${urls[1]}/v1/check`, project.test.key.secret, render),
    ];
    expect(replies.map(({ body }) => body["creditsRequired"])).toEqual(Array(4).fill(round + 1));
  }
});

test("a new feature is available in both processes immediately, and is never reported missing afterward", async () => {
  const { cell, context, publish, consumeAt } = await setupTwo();
  for (const round of rounds(5)) {
    const key = `feature-${round}`;
    const ask = (turn: number) =>
      consumeAt(turn, { customerId: "ada", feature: key, idempotencyKey: `${key}-${turn}` });
    expect((await ask(0)).status).toBe(404);
    expect((await ask(1)).status).toBe(404);
    const cost = { credits: 1, per: 1 };
    await defineFeature(cell, context, { key, name: key, unit: null, pool: "credits", cost });
    const replies = await Promise.all(times(10, ask));
    expect(replies.map(({ body }) => body["reason"])).toEqual(Array(10).fill("feature_not_in_plan"));
    await publish({ reach: "now", features: [...PRO.features, { feature: key, limit: null }] });
    const allowed = await Promise.all(times(4, (turn) => ask(10 + turn)));
    expect(countAllowed(allowed)).toBe(4);
  }
});

test("a plan version published with reach `now` applies exactly once during 60 charges, and used credits stay used", async () => {
  const { publish, assign, renderAt, database } = await setupTwo();
  for (const round of rounds(3)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const consumes = times(60, async (i) => {
      await pause(i);
      return renderAt(i, { customerId });
    });
    // Raises the allowance from 10 charges to 30, and back to 10 for the customers in the next round.
    await pause(20);
    await publish({
      reach: "now",
      allowances: [{ pool: "credits", credits: 300, period: "month", rollover: 0, overage: 0 }],
    });
    const replies = await Promise.all(consumes);
    const late = await Promise.all(times(30, (i) => renderAt(i, { customerId })));
    expect(countAllowed([...replies, ...late])).toBe(30);
    await publish({ reach: "new_assignments" });
  }
  await expectSoundBooks(database);
});
