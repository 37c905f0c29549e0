import fc from "fast-check";
import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../service/test/books.ts";
import { openShop } from "./shop.ts";
import {
  cancel,
  cancelAtPeriodEnd,
  changeAtPeriodEnd,
  checkout,
  DAY_SECONDS,
  makeEvent,
  nowSeconds,
  owe,
  SEEDS,
  type Subscription,
  shuffled,
  subscribe,
  toTime,
} from "./stripe-objects.ts";

test.each(SEEDS)(
  "an older event does not undo a downgrade, whichever arrives last (order %i)",
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

test("a delivery that reads from Stripe before a downgrade and writes after it does not undo the downgrade", async () => {
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

test("a delivery that reads from Stripe before a cancellation and writes after it does not restore the plan", async () => {
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
  "a canceled subscription ends the plan once and keeps purchased credits (order %i)",
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
    expect(await read("org/1")).toEqual({ plan: null, endsAt: null, next: null, balance: 500 });
    expect(await database.count("cell.audit", "action = 'plan.ended'")).toBe(1);
    await expectSoundBooks(database);
  },
);

test("a cancellation at the end of the period ends the plan at that time, without a grace period, and can be undone", async () => {
  const { stripe, deliver, read } = await openShop();
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const pro = subscribe("price_pro", { until });
  const say = async (subscription: Subscription): Promise<unknown> => {
    stripe.subscriptions = [subscription];
    expect(await deliver(makeEvent("customer.subscription.updated", subscription))).toBe(200);
    return (await read("org/1")).endsAt;
  };
  expect(await say(pro)).toBe(toTime(until + 3 * DAY_SECONDS));
  expect(await say(cancelAtPeriodEnd(pro))).toBe(toTime(until));
  expect(await say(pro)).toBe(toTime(until + 3 * DAY_SECONDS));
});

test("after a change from a yearly to a monthly price, the plan ends after the new paid period and the grace period, and keeps its anchor", async () => {
  const { stripe, deliver, read, manage } = await openShop();
  const yearly = subscribe("price_pro_yearly", { until: nowSeconds() + 355 * DAY_SECONDS });
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const monthly = subscribe("price_pro", { from: nowSeconds() - 60, until });
  for (const subscription of [yearly, monthly]) {
    stripe.subscriptions = [subscription];
    expect(await deliver(makeEvent("customer.subscription.updated", subscription))).toBe(200);
  }
  const { endsAt, balance } = await read("org/1");
  expect([endsAt, balance]).toEqual([toTime(until + 3 * DAY_SECONDS), 100]);
  expect((await manage("GET", "customers/org%2F1")).body).toMatchObject({
    plan: { anchor: toTime(yearly.billing_cycle_anchor) },
  });
});

test("repeated and reordered Stripe events always end with the current state at Stripe", async () => {
  const { stripe, deliver, read, database } = await openShop();
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const states = {
    pro: (of: Subscription) => of,
    canceling: cancelAtPeriodEnd,
    basic: (of: Subscription) => ({ ...of, items: subscribe("price_basic", { until }).items }),
    downgrading: (of: Subscription) => changeAtPeriodEnd(of, "price_basic"),
    both: (of: Subscription) => cancelAtPeriodEnd(changeAtPeriodEnd(of, "price_basic")),
    gone: cancel,
  };
  type State = keyof typeof states;
  const names: State[] = ["pro", "canceling", "basic", "downgrading", "both", "gone"];
  const lives = fc.array(fc.constantFrom(...names), {
    minLength: 1,
    maxLength: 5,
  });
  let customers = 0;
  const delivery = fc.record({ state: fc.nat(4), event: fc.nat(9) });
  const property = fc.asyncProperty(lives, fc.array(delivery, { maxLength: 6 }), async (life, early) => {
    customers += 1;
    const customerId = `org/${customers + 1}`;
    const known = { customer: `cus_${customers}`, metadata: { customerId } };
    const history = life.map((state) => ({ ...states[state](subscribe("price_pro", { until })), ...known }));
    const events = history.map((subscription, i) =>
      makeEvent(
        `customer.subscription.${life[i] === "gone" ? "deleted" : i === 0 ? "created" : "updated"}`,
        subscription,
      ),
    );
    for (const [now, subscription] of history.entries()) {
      stripe.subscriptions = [subscription];
      const sent = early.filter(({ state }) => state === now).map(({ event }) => events[event % (now + 1)]);
      for (const event of sent) if (event !== undefined) expect(await deliver(event)).toBe(200);
    }
    // At the end, all events arrive, newest first.
    for (const event of events.toReversed()) expect(await deliver(event)).toBe(200);
    const { plan, endsAt, next } = await read(customerId);
    const withGrace = toTime(until + 3 * DAY_SECONDS);
    const downgrade = ["basic", toTime(until), withGrace];
    const truth = {
      pro: { plan: "pro", endsAt: withGrace, next: null },
      canceling: { plan: "pro", endsAt: toTime(until), next: null },
      basic: { plan: "basic", endsAt: withGrace, next: null },
      downgrading: { plan: "pro", endsAt: withGrace, next: downgrade },
      both: { plan: "pro", endsAt: toTime(until), next: null },
      gone: { plan: null, endsAt: null, next: null },
    };
    expect({ plan, endsAt, next }).toEqual(truth[life.at(-1) ?? "gone"]);
  });
  await fc.assert(property, { numRuns: 25 });
  await expectSoundBooks(database);
});

test("the end of an old subscription does not end the plan of a newer subscription", async () => {
  const { stripe, deliver, read } = await openShop();
  const old = cancel({ ...subscribe("price_basic"), id: "sub_old" });
  stripe.subscriptions = [subscribe("price_pro"), old];
  expect(await deliver(makeEvent("customer.subscription.deleted", old))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro" });
});

test("if a customer has two paid subscriptions, the newer one determines the plan", async () => {
  const { stripe, deliver, read } = await openShop();
  stripe.subscriptions = [subscribe("price_pro"), { ...subscribe("price_basic"), id: "sub_old" }];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro" });
});

test("an update to an ended subscription does not end a manually assigned plan", async () => {
  const { stripe, deliver, read, assign } = await openShop();
  await assign("org/1", "basic");
  const old = cancel(subscribe("price_pro"));
  stripe.subscriptions = [old];
  expect(await deliver(makeEvent("customer.subscription.updated", old))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic" });
});

test("the recipe ignores the end of an unknown customer's subscription", async () => {
  const { stripe, deliver } = await openShop();
  const gone = cancel(subscribe("price_pro"));
  stripe.subscriptions = [gone];
  expect(await deliver(makeEvent("customer.subscription.deleted", gone))).toBe(200);
});

test("an unpaid renewal extends the plan by the grace period, and a paid renewal by its period", async () => {
  const { stripe, deliver, read } = await openShop();
  const renewedAt = nowSeconds() - 3_600;
  const renewed = subscribe("price_pro", { from: renewedAt, until: renewedAt + 30 * DAY_SECONDS });
  const owed = owe(renewed);
  stripe.subscriptions = [owed];
  expect(await deliver(makeEvent("customer.subscription.updated", owed))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(renewedAt + 3 * DAY_SECONDS) });
  stripe.subscriptions = [renewed];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(renewedAt + 33 * DAY_SECONDS) });
});

test("an unpaid change within the paid period changes nothing", async () => {
  const { stripe, deliver, read } = await openShop();
  const from = nowSeconds() - 10 * DAY_SECONDS;
  const paid = subscribe("price_basic", { from, until: from + 30 * DAY_SECONDS });
  stripe.subscriptions = [paid];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  const upgraded = owe(subscribe("price_pro", { from, until: from + 30 * DAY_SECONDS }), {
    billing_reason: "subscription_update",
    created: nowSeconds(),
  });
  stripe.subscriptions = [upgraded];
  expect(await deliver(makeEvent("customer.subscription.updated", upgraded))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic", endsAt: toTime(from + 33 * DAY_SECONDS) });
});

test("a change to another interval starts a period, which applies only once it is paid", async () => {
  const { stripe, deliver, read } = await openShop();
  const from = nowSeconds() - 60;
  const yearly = owe(subscribe("price_pro", { from, until: from + 365 * DAY_SECONDS }), {
    billing_reason: "subscription_update",
    created: from + 1,
  });
  stripe.subscriptions = [yearly];
  expect(await deliver(makeEvent("customer.subscription.updated", yearly))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(from + 3 * DAY_SECONDS) });
});

test.each([
  ["whose first payment failed", "incomplete", "subscription_create"],
  ["that has been unpaid for longer than the grace period", "past_due", "subscription_cycle"],
] as const)("a subscription %s does not assign a plan", async (_name, status, billing_reason) => {
  const { stripe, deliver, countPlanChanges } = await openShop();
  const subscription = { ...owe(subscribe("price_pro"), { billing_reason }), status };
  stripe.subscriptions = [subscription];
  expect(await deliver(makeEvent("customer.subscription.updated", subscription))).toBe(200);
  expect(await countPlanChanges()).toBe(0);
});

test("an event for a price without a plan, or from the other Stripe mode, is an error", async () => {
  const { stripe, deliver, database } = await openShop();
  stripe.subscriptions = [subscribe("price_forgotten")];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(500);
  expect(await deliver(makeEvent("checkout.session.completed", checkout(), true))).toBe(500);
  expect(await database.count("cell.audit", "customer_number is not null and actor_kind = 'token'")).toBe(0);
});
