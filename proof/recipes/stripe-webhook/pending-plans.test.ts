import { expect, test } from "vitest";
import { openShop } from "./shop.ts";
import {
  changeAtPeriodEnd,
  DAY_SECONDS,
  makeEvent,
  nowSeconds,
  owe,
  shuffled,
  subscribe,
  toTime,
} from "./stripe-objects.ts";

test("a downgrade at the end of the period is scheduled once for that time, and can be undone", async () => {
  const { stripe, deliver, read, database } = await openShop();
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const pro = subscribe("price_pro", { until });
  const downgraded = changeAtPeriodEnd(pro, "price_basic");
  const graced = toTime(until + 3 * DAY_SECONDS);
  const pending = { plan: "pro", endsAt: graced, next: ["basic", toTime(until), graced], balance: 100 };
  stripe.subscriptions = [downgraded];
  const events = [
    makeEvent("customer.subscription.created", pro),
    makeEvent("customer.subscription.updated", downgraded),
    makeEvent("subscription_schedule.created", { customer: "cus_1" }),
  ];
  for (const event of shuffled(events, 1)) expect(await deliver(event)).toBe(200);
  expect(await read("org/1")).toEqual(pending);
  expect(await database.count("cell.assignments", "change = 7")).toBe(1);
  expect(await database.count("cell.assignments", "change = 8")).toBe(0);
  stripe.subscriptions = [pro];
  expect(await deliver(makeEvent("subscription_schedule.released", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toEqual({ ...pending, next: null });
});

test("a plan is not scheduled while the current period is unpaid", async () => {
  const { stripe, deliver, read } = await openShop();
  const from = nowSeconds() - 3_600;
  const until = from + 30 * DAY_SECONDS;
  const pro = subscribe("price_pro", { from, until });
  const downgraded = changeAtPeriodEnd(pro, "price_basic");
  stripe.subscriptions = [owe(downgraded)];
  expect(await deliver(makeEvent("customer.subscription.updated", downgraded))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", next: null });
  stripe.subscriptions = [downgraded];
  expect(await deliver(makeEvent("invoice.paid", { customer: "cus_1" }))).toBe(200);
  expect(await read("org/1")).toMatchObject({
    plan: "pro",
    next: ["basic", toTime(until), toTime(until + 3 * DAY_SECONDS)],
  });
});

test("without a grace period, a downgrade starts once it is paid, and every delivery succeeds", async () => {
  const { stripe, deliver, read } = await openShop({ GRACE_HOURS: "0" });
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const downgraded = changeAtPeriodEnd(subscribe("price_pro", { until }), "price_basic");
  stripe.subscriptions = [downgraded];
  expect(await deliver(makeEvent("customer.subscription.updated", downgraded))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(until), next: null });
});

test("a phase that has started determines the current plan, even before Stripe changes the price", async () => {
  const { stripe, deliver, read } = await openShop();
  const until = nowSeconds() - 60;
  const downgraded = changeAtPeriodEnd(
    subscribe("price_pro", { from: until - 30 * DAY_SECONDS, until }),
    "price_basic",
  );
  stripe.subscriptions = [downgraded];
  expect(await deliver(makeEvent("customer.subscription.updated", downgraded))).toBe(200);
  expect(await read("org/1")).toMatchObject({ plan: "basic", next: null });
});

test("a later phase without a known price does not block the renewal of the current plan", async () => {
  const { stripe, deliver, read } = await openShop();
  const until = nowSeconds() + 20 * DAY_SECONDS;
  const unknown = changeAtPeriodEnd(subscribe("price_pro", { until }), "price_unknown");
  stripe.subscriptions = [unknown];
  expect(await deliver(makeEvent("customer.subscription.updated", unknown))).toBe(500);
  expect(await read("org/1")).toMatchObject({ plan: "pro", endsAt: toTime(until + 3 * DAY_SECONDS) });
});
