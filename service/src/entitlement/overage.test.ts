import { expect, test } from "vitest";
import { at, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

const pro = { features: { image: null } } as const;
const allowing = (credits: number, overage: number | null) => ({ ...monthly(credits), overage });
const catalog = makeCatalog({
  pro: [
    { ...pro, allowances: [allowing(100, 50)] },
    { ...pro, allowances: [allowing(100, 20)], publishedAt: at("2026-01-20"), reach: "now" },
  ],
  unlimited: [{ ...pro, allowances: [allowing(100, null)] }],
  plain: [{ ...pro, allowances: [allowing(100, 0)] }],
});

/** A customer with 100 credits a month and an overage of 50. An image costs 10. */
function customerOn(plan = "pro"): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

const overageOf = (customer: Timeline, when: string) => customer.check(when, "image").before?.overage;

test("overage is used after all credits, and no balance becomes negative", () => {
  const customer = customerOn();
  customer.topUp("2026-01-02", 5);
  const decision = customer.consume("2026-01-03", "image", 12);
  expect(decision).toMatchObject({
    allowed: true,
    creditsRequired: 120,
    entry: { amount: -105, balanceAfter: 0, usage: { overage: [{ grant: 1, credits: 15 }], uncovered: 0 } },
    after: { balance: 0, overage: { credits: 50, used: 15, held: 0, remaining: 35 } },
  });
  expect(customer.check("2026-01-03", "image", 4)).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    affordableQuantity: 3,
  });
});

test("a request that needs more than the remaining credits is denied if the plan has no overage", () => {
  const customer = customerOn("plain");
  expect(customer.check("2026-01-03", "image", 11)).toMatchObject({
    reason: "insufficient_credits",
    before: { overage: null },
  });
});

test("a top-up does not repay overage, and overage restarts at 0 in a new period", () => {
  const customer = customerOn();
  customer.consume("2026-01-03", "image", 12);
  customer.topUp("2026-01-04", 30);
  expect(customer.check("2026-01-04", "image").before).toMatchObject({ balance: 30, overage: { used: 20 } });
  expect(overageOf(customer, "2026-02-01")).toMatchObject({ used: 0 });
});

test("a change to the plan's overage applies immediately, even if the new limit is below the overage already used", () => {
  const customer = customerOn();
  customer.consume("2026-01-03", "image", 13);
  expect(overageOf(customer, "2026-01-21")).toEqual({ credits: 20, used: 30, held: 0, remaining: 0 });
  expect(customer.check("2026-01-21", "image").reason).toBe("insufficient_credits");
});

test("a customer's override replaces the plan's overage immediately, and can be unlimited", () => {
  const customer = customerOn("plain");
  customer.override("2026-01-02", {}, { overage: null });
  expect(customer.consume("2026-01-03", "image", 100_000)).toMatchObject({
    allowed: true,
    after: { overage: { credits: null, used: 999_900, remaining: null } },
  });
  customer.override("2026-01-04", {}, { overage: 0 });
  expect(customer.check("2026-01-05", "image").before?.overage).toBeNull();
});

test("a plan that the customer leaves keeps its overage count, and resumes with it", () => {
  const customer = customerOn();
  customer.consume("2026-01-03", "image", 12);
  customer.assign("2026-01-04", "unlimited");
  expect(overageOf(customer, "2026-01-05")).toMatchObject({ used: 0 });
  customer.assign("2026-01-06", "pro");
  expect(overageOf(customer, "2026-01-07")).toMatchObject({ used: 20 });
});

test("in the period of the charge, a reversal removes overage first", () => {
  const customer = customerOn();
  const { entry } = customer.consume("2026-01-03", "image", 12);
  expect(customer.reverse("2026-01-04", entry, 1)).toMatchObject({ credits: 0, overageCredits: 10 });
  expect(overageOf(customer, "2026-01-04")).toMatchObject({ used: 10 });
  expect(customer.reverse("2026-01-05", entry)).toMatchObject({ credits: 100, overageCredits: 10 });
  expect(customer.check("2026-01-05", "image").before).toMatchObject({ balance: 100, overage: { used: 0 } });
});

test("in a later period, a reversal reports the overage that it reverses, but changes no overage count", () => {
  const customer = customerOn();
  const { entry } = customer.consume("2026-01-03", "image", 12);
  customer.consume("2026-02-03", "image", 11);
  expect(customer.reverse("2026-02-04", entry, 2)).toMatchObject({ credits: 0, overageCredits: 20 });
  expect(customer.entries.at(-1)?.usage?.overage).toEqual([{ grant: 1, credits: 20 }]);
  expect(overageOf(customer, "2026-02-04")).toMatchObject({ used: 10 });
});

test("other requests cannot use overage that a hold has set aside, and a settlement spends newly available credits first", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-03T12:00:00", { image: 13 });
  const during = "2026-01-03T12:01:00";
  expect(overageOf(customer, during)).toEqual({ credits: 50, used: 0, held: 30, remaining: 20 });
  customer.topUp(during, 25);
  expect(customer.settle(during, hold)).toMatchObject({
    items: [{ creditsCharged: 125, overageCredits: 5, creditsBeyondHold: 0, creditsUncovered: 0 }],
  });
  expect(overageOf(customer, during)).toMatchObject({ used: 5, held: 0 });
});

test("usage beyond a hold becomes overage up to the limit, and the rest is uncovered", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-03T12:00:00", { image: 10 });
  expect(customer.settle("2026-01-03T12:01:00", hold, [17])).toMatchObject({
    items: [{ creditsCharged: 100, overageCredits: 50, creditsBeyondHold: 70, creditsUncovered: 20 }],
  });
});

test("usage beyond a hold uses only overage that no hold has set aside", () => {
  const customer = customerOn();
  customer.consume("2026-01-03", "image", 12);
  const hold = customer.hold("2026-01-03T12:00:00", { image: 2 });
  expect(customer.settle("2026-01-03T12:01:00", hold, [4])).toMatchObject({
    items: [{ creditsCharged: 0, overageCredits: 30, creditsBeyondHold: 20, creditsUncovered: 10 }],
  });
  expect(overageOf(customer, "2026-01-03T12:01:00")).toEqual({
    credits: 50,
    used: 50,
    held: 0,
    remaining: 0,
  });
});

test("each item of a hold uses its own overage first; other items can use what is left", () => {
  const both = makeCatalog({
    pro: [{ features: { image: null, text: null }, allowances: [allowing(100, 50)] }],
  });
  const customer = new Timeline(both);
  customer.assign("2026-01-01", "pro");
  const hold = customer.hold("2026-01-03T12:00:00", { image: 10, text: 10_000 });
  const settled = customer.settle("2026-01-03T12:01:00", hold, [13, 10_000], { atMostHeld: true });
  expect(settled).toMatchObject({
    items: [
      { creditsCharged: 100, overageCredits: 0, creditsBeyondHold: 30, creditsUncovered: 30 },
      { creditsCharged: 0, overageCredits: 30, creditsBeyondHold: 0, creditsUncovered: 0 },
    ],
  });
});

test("with atMostHeld, a settlement uses only the overage of the hold", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-03T12:00:00", { image: 11 });
  expect(customer.settle("2026-01-03T12:01:00", hold, [14], { atMostHeld: true })).toMatchObject({
    items: [{ creditsCharged: 100, overageCredits: 10, creditsBeyondHold: 30, creditsUncovered: 30 }],
  });
});

test("the overage of a hold belongs to the period in which it was opened", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-31T23:59:00", { image: 12 });
  const next = "2026-02-01T00:01:00";
  expect(overageOf(customer, next)).toMatchObject({ used: 0, held: 0 });
  expect(customer.settle(next, hold, [12])).toMatchObject({
    items: [{ creditsCharged: 120, overageCredits: 0 }],
  });
});

test("extending a hold sets more overage aside, and a release returns it", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-03T12:00:00", { image: 9 });
  const during = "2026-01-03T12:01:00";
  expect(customer.extend(during, hold, { quantity: 15 }).kind).toBe("extended");
  expect(customer.extend(during, hold, { quantity: 16 })).toMatchObject({
    kind: "denied",
    affordableQuantity: 15,
  });
  expect(overageOf(customer, during)).toMatchObject({ held: 50, remaining: 0 });
  customer.release(during, hold);
  expect(customer.check(during, "image").before).toMatchObject({ balance: 100, overage: { held: 0 } });
});

test("items are charged in order, and only the last items become overage", () => {
  const both = makeCatalog({
    pro: [{ features: { image: null, text: null }, allowances: [allowing(100, 50)] }],
  });
  const customer = new Timeline(both);
  customer.assign("2026-01-01", "pro");
  const { allowed, items } = customer.consumeItems("2026-01-02", { image: 9, text: 20_000 });
  expect(allowed).toBe(true);
  expect(items.map(({ entry }) => [entry?.amount, entry?.usage?.overage])).toEqual([
    [-90, []],
    [-10, [{ grant: 1, credits: 50 }]],
  ]);
});
