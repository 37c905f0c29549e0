import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../service/test/books.ts";
import { openShop } from "./shop.ts";
import {
  checkout,
  DAY_SECONDS,
  makeEvent,
  nowSeconds,
  SEEDS,
  shuffled,
  subscribe,
  toTime,
} from "./stripe-objects.ts";

test.each(SEEDS)(
  "a purchase delivered three times in any order creates one plan and one top-up (order %i)",
  async (seed) => {
    const { stripe, deliver, read, database, countPlanChanges } = await openShop();
    const until = nowSeconds() + 20 * DAY_SECONDS;
    const subscription = subscribe("price_pro", { until });
    stripe.subscriptions = [subscription];
    const events = [
      makeEvent("customer.subscription.created", { ...subscription, status: "incomplete" }),
      makeEvent("customer.subscription.updated", subscription),
      makeEvent("invoice.paid", { customer: "cus_1" }),
      makeEvent("checkout.session.completed", checkout()),
      makeEvent("customer.updated", { id: "cus_1" }),
    ];
    for (const event of shuffled(events, seed)) expect(await deliver(event)).toBe(200);
    expect(await read("org/1")).toEqual({
      plan: "pro",
      endsAt: toTime(until + 3 * DAY_SECONDS),
      next: null,
      balance: 600,
    });
    expect(await countPlanChanges()).toBe(1);
    const grants = await database.query(
      "select reference, credits::integer, price_amount::integer, price_currency from cell.grants where reference is not null",
    );
    expect(grants).toEqual([{ reference: "pi_1", credits: 500, price_amount: 4900, price_currency: "EUR" }]);
    await expectSoundBooks(database);
  },
);

test.each(SEEDS)("concurrent deliveries create one plan and one top-up (order %i)", async (seed) => {
  const { stripe, deliver, read, database, countPlanChanges } = await openShop();
  const subscription = subscribe("price_pro");
  stripe.subscriptions = [subscription];
  const events = [
    makeEvent("customer.subscription.created", subscription),
    makeEvent("invoice.paid", { customer: "cus_1" }),
    makeEvent("checkout.session.completed", checkout()),
  ];
  const statuses = await Promise.all(shuffled(events, seed).map(deliver));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await read("org/1")).toMatchObject({ plan: "pro", balance: 600 });
  expect(await countPlanChanges()).toBe(1);
  await expectSoundBooks(database);
});

test("credits are added when a session is paid, and not for unpaid or other sessions", async () => {
  const { deliver, read, database } = await openShop();
  const unpaid = checkout({ payment_status: "unpaid" });
  const others = [
    unpaid,
    checkout({ mode: "subscription" }),
    checkout({ metadata: {} }),
    checkout({ metadata: null }),
  ];
  for (const session of others)
    expect(await deliver(makeEvent("checkout.session.completed", session))).toBe(200);
  expect(await database.count("cell.grants", "reference is not null")).toBe(0);
  expect(await deliver(makeEvent("checkout.session.async_payment_succeeded", checkout()))).toBe(200);
  expect(await read("org/1")).toMatchObject({ balance: 500 });
});

test("client_reference_id can name the customer, and a purchase without a customer is an error", async () => {
  const { deliver, read, database } = await openShop();
  const metadata = { credits: "500" };
  const session = checkout({ metadata, client_reference_id: "org/2", payment_intent: null });
  expect(await deliver(makeEvent("checkout.session.completed", session))).toBe(200);
  expect(await read("org/2")).toMatchObject({ balance: 500 });
  expect(await database.count("cell.grants", "reference = 'cs_1'")).toBe(1);
  expect(await deliver(makeEvent("checkout.session.completed", checkout({ metadata })))).toBe(500);
});
