import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../service/test/books.ts";
import { makeEvent, nowSeconds, type Subscription } from "./local-stripe.ts";
import { openShop } from "./shop.ts";
import { SEEDS, shuffled } from "./shuffled.ts";
import { cancel, checkout, DAY_SECONDS, subscribe, toTime } from "./stripe-objects.ts";

test.each(SEEDS)(
  "an older event does not undo a downgrade, whichever comes last (order %i)",
  async (seed) => {
    const { stripe, deliver, read, countPlanChanges } = await openShop();
    const pro = subscribe("price_pro");
    const basic = subscribe("price_basic");
    stripe.subscriptions = [pro];
    expect(await deliver(makeEvent("customer.subscription.created", pro))).toBe(200);
    stripe.subscriptions = [basic];
    const events = [
      makeEvent("customer.subscription.created", pro),
      makeEvent("customer.subscription.updated", pro),
      makeEvent("customer.subscription.updated", basic),
    ];
    for (const event of shuffled(events, seed)) expect(await deliver(event)).toBe(200);
    expect(await read("org/1")).toMatchObject({ plan: "basic", balance: 20 });
    expect(await countPlanChanges()).toBe(2);
  },
);

test("who read before a downgrade and writes after it mends what they wrote", async () => {
  const { stripe, deliver, read } = await openShop();
  const pro = subscribe("price_pro");
  const basic = subscribe("price_basic");
  stripe.subscriptions = [pro];
  const held = stripe.holdNextAnswer();
  const late = deliver(makeEvent("customer.subscription.updated", pro));
  await held.asked;
  stripe.subscriptions = [basic];
  expect(await deliver(makeEvent("customer.subscription.updated", basic))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic" });
  held.release();
  expect(await late).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic", balance: 20 });
});

test("who read before a cancellation and writes after it takes the plan back", async () => {
  const { stripe, deliver, read } = await openShop();
  const pro = subscribe("price_pro");
  stripe.subscriptions = [pro];
  const held = stripe.holdNextAnswer();
  const late = deliver(makeEvent("customer.subscription.updated", pro));
  await held.asked;
  stripe.subscriptions = [cancel(pro)];
  expect(await deliver(makeEvent("customer.subscription.deleted", cancel(pro)))).toBe(200);
  held.release();
  expect(await late).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: null, balance: 0 });
});

test.each(SEEDS)(
  "a cancelled subscription ends the plan once and keeps what was bought (order %i)",
  async (seed) => {
    const { stripe, deliver, read, database } = await openShop();
    const pro = subscribe("price_pro");
    stripe.subscriptions = [pro];
    expect(await deliver(makeEvent("customer.subscription.created", pro))).toBe(200);
    stripe.subscriptions = [cancel(pro)];
    const events = [
      makeEvent("customer.subscription.updated", pro),
      makeEvent("customer.subscription.deleted", cancel(pro)),
      makeEvent("checkout.session.completed", checkout()),
    ];
    for (const event of shuffled(events, seed)) expect(await deliver(event)).toBe(200);
    expect(await read("org/1")).toEqual({ plan: null, endsAt: null, balance: 500 });
    expect(await database.count("cell.audit", "action = 'plan.ended'")).toBe(1);
    await expectSoundBooks(database);
  },
);

test("the end of an old subscription does not end the plan that a newer one pays for", async () => {
  const { stripe, deliver, read } = await openShop();
  const old = cancel({ ...subscribe("price_basic"), id: "sub_old" });
  stripe.subscriptions = [subscribe("price_pro"), old];
  expect(await deliver(makeEvent("customer.subscription.deleted", old))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro" });
});

test("of two subscriptions that are both paid for the newer one decides", async () => {
  const { stripe, deliver, read } = await openShop();
  stripe.subscriptions = [subscribe("price_pro"), { ...subscribe("price_basic"), id: "sub_old" }];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro" });
});

test("a plan that somebody assigned by hand outlives all but the deletion itself", async () => {
  const { stripe, deliver, read, assign } = await openShop();
  await assign("org/1", "basic");
  const old = cancel(subscribe("price_pro"));
  stripe.subscriptions = [old];
  expect(await deliver(makeEvent("customer.subscription.updated", old))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic" });
});

test("the end of a subscription of whom Purser never heard is nothing to do", async () => {
  const { stripe, deliver } = await openShop();
  const gone = cancel(subscribe("price_pro"));
  stripe.subscriptions = [gone];
  expect(await deliver(makeEvent("customer.subscription.deleted", gone))).toBe(200);
});

test("a renewal extends the plan when it is paid, and only by the grace before", async () => {
  const { stripe, deliver, read } = await openShop();
  const renewedAt = nowSeconds() - 3_600;
  const renewed = subscribe("price_pro", { from: renewedAt, until: renewedAt + 30 * DAY_SECONDS });
  const owed: Subscription = { ...renewed, latest_invoice: { status: "open" } };
  stripe.subscriptions = [owed];
  expect(await deliver(makeEvent("customer.subscription.updated", owed))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(renewedAt + 3 * DAY_SECONDS) });
  stripe.subscriptions = [renewed];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(renewedAt + 33 * DAY_SECONDS) });
});

test.each([
  ["whose first payment failed", { status: "incomplete", latest_invoice: { status: "open" } }],
  ["that has owed for longer than the grace", { status: "past_due", latest_invoice: { status: "open" } }],
] as const)("a subscription %s gives no plan", async (_name, change) => {
  const { stripe, deliver, countPlanChanges } = await openShop();
  const subscription = { ...subscribe("price_pro"), ...change };
  stripe.subscriptions = [subscription];
  expect(await deliver(makeEvent("customer.subscription.updated", subscription))).toBe(200);
  expect(await countPlanChanges()).toBe(0);
});

test("a price that no plan stands for, and an event of the other mode, are loud", async () => {
  const { stripe, deliver, database } = await openShop();
  stripe.subscriptions = [subscribe("price_forgotten")];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(500);
  expect(await deliver(makeEvent("checkout.session.completed", checkout(), true))).toBe(500);
  expect(await database.count("cell.audit", "customer_number is not null and actor_kind = 'token'")).toBe(0);
});
