import { expect, test } from "vitest";
import { at, CREDITS, getFeature, makeCatalog, monthly, watched } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import type { Change, Notice } from "./entry.ts";
import { expireDue } from "./expire-due.ts";
import { viewDue } from "./view-wallet.ts";

const THRESHOLDS = [50, 20];

const image = { features: { image: null } } as const;
const catalog = watched(
  makeCatalog({
    pro: [image],
    plus: [{ ...image, allowances: [{ ...monthly(100), overage: 50 }] }],
    limited: [{ features: { image: { quantity: 5, period: "month" } }, allowances: [monthly(1_000)] }],
    small: [{ ...image, allowances: [monthly(30)] }],
  }),
  THRESHOLDS,
);

/** An image costs 10. */
function customerOn(plan = "pro", options = {}): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan, options);
  customer.notices.length = 0;
  return customer;
}

/** The notices since the last call, without their times. */
const taken = (customer: Timeline): object[] =>
  customer.notices.splice(0).map(({ effectiveAt: _, ...notice }) => notice);

const low = (threshold: number, balance: number) => ({
  type: "balance.low",
  pool: "pool 1",
  threshold,
  balance,
});

test("each threshold is crossed once, and the last credit depletes the balance", () => {
  const customer = customerOn();
  customer.consume("2026-01-02", "image", 5);
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-01-02", "image");
  expect(taken(customer)).toEqual([low(50, 40)]);
  customer.consume("2026-01-02", "image", 4);
  expect(taken(customer)).toEqual([low(20, 0), { type: "balance.depleted", pool: "pool 1", balance: 0 }]);
  customer.consume("2026-01-02", "image");
  expect(taken(customer)).toEqual([]);
});

test("a reversal re-arms nothing", () => {
  const customer = customerOn();
  customer.consume("2026-01-02", "image", 6);
  expect(taken(customer)).toEqual([low(50, 40)]);
  customer.reverse("2026-01-03", customer.entries.at(-1) ?? null);
  expect(customer.balance).toBe(100);
  expect(customer.wallet.lows).toEqual([{ pool: CREDITS, balance: 40 }]);
  customer.consume("2026-01-04", "image", 6);
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-01-04", "image", 3);
  expect(taken(customer)).toEqual([low(20, 10)]);
});

test("a grant re-arms the thresholds that it exceeds", () => {
  const customer = customerOn();
  customer.consume("2026-01-02", "image", 9);
  expect(taken(customer)).toEqual([low(50, 10), low(20, 10)]);
  customer.topUp("2026-01-03", 20);
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-01-04", "image", 2);
  expect(taken(customer)).toEqual([low(20, 10)]);
});

test("a new period re-arms, and its expiry and grant are one step", () => {
  const customer = customerOn();
  customer.consume("2026-01-02", "image", 6);
  taken(customer);
  customer.consume("2026-02-02", "image");
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-02-03", "image", 5);
  expect(taken(customer)).toEqual([low(50, 40)]);
});

test("a smaller allowance in the next period crosses a threshold", () => {
  const customer = customerOn();
  customer.assign("2026-01-20", "small");
  expect(taken(customer)).toEqual([
    { type: "plan.changed", plan: "small", previousPlan: "pro" },
    low(50, 30),
  ]);
});

test("overage starts once in a period, also after a reversal", () => {
  const customer = customerOn("plus");
  customer.consume("2026-01-02", "image", 11);
  expect(taken(customer).map((notice) => (notice as Notice).type)).toEqual([
    "balance.low",
    "balance.low",
    "balance.depleted",
    "overage.started",
  ]);
  customer.reverse("2026-01-03", customer.entries.at(-1) ?? null);
  customer.consume("2026-01-04", "image", 11);
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-02-04", "image", 12);
  expect(taken(customer)).toHaveLength(4);
});

test("a limit is reached once in its period, also after a reversal", () => {
  const customer = customerOn("limited");
  customer.consume("2026-01-02", "image", 4);
  expect(taken(customer)).toEqual([]);
  customer.consume("2026-01-02", "image");
  const reached = { type: "limit.reached", feature: "image", limit: 5 };
  expect(taken(customer)).toEqual([{ ...reached, resetsAt: at("2026-02-01") }]);
  customer.reverse("2026-01-03", customer.entries.at(-1) ?? null);
  expect(customer.wallet.peaks).toEqual([
    { feature: getFeature("image").id, of: 1, end: at("2026-02-01"), used: 5 },
  ]);
  customer.consume("2026-01-04", "image");
  expect(taken(customer)).toEqual([]);
  customer.override("2026-01-05", { image: { limit: { quantity: 6, period: "month" } } });
  customer.consume("2026-01-06", "image");
  expect(taken(customer)).toEqual([{ ...reached, limit: 6, resetsAt: at("2026-02-01") }]);
  customer.consume("2026-02-02", "image", 6);
  expect(taken(customer)).toMatchObject([{ ...reached, limit: 6 }]);
});

test("holds do not lower a balance until they are charged", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-02", { image: 6 });
  expect(taken(customer)).toEqual([]);
  customer.settle("2026-01-02", hold);
  expect(taken(customer)).toEqual([low(50, 40)]);
});

test("the end of a hold says whether it charged", () => {
  const customer = customerOn();
  customer.hold("2026-01-02", { image: 1 }, { seconds: 60 });
  customer.hold("2026-01-02", { image: 2 }, { seconds: 60, onExpiry: "charge" });
  customer.consume("2026-01-03", "image");
  const opened = { openedAt: at("2026-01-02") };
  expect(taken(customer)).toEqual([
    { type: "hold.expired", hold: { number: 1, ...opened }, charged: false },
    { type: "hold.expired", hold: { number: 2, ...opened }, charged: true },
  ]);
});

test("a customer's first plan is not a change", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  expect(taken(customer)).toEqual([]);
  customer.end("2026-01-02");
  customer.notices.length = 0;
  customer.assign("2026-01-03", "plus");
  expect(taken(customer)).toEqual([{ type: "plan.changed", plan: "plus", previousPlan: null }]);
});

test("a plan that ends is told apart from a plan that changes", () => {
  const customer = customerOn("pro", { endsAt: at("2026-01-10") });
  customer.assign("2026-01-05", "plus");
  expect(taken(customer)).toMatchObject([{ type: "plan.changed", plan: "plus", previousPlan: "pro" }]);
  customer.end("2026-01-06");
  expect(taken(customer)).toMatchObject([
    { type: "plan.ended", plan: "plus" },
    { type: "balance.low" },
    { type: "balance.low" },
    { type: "balance.depleted" },
  ]);
});

const typesOf = (change: Change | null): string[] => (change?.notices ?? []).map(({ type }) => type);

test("a sweep does not report a balance that the next allowance restores", () => {
  const customer = customerOn("pro", { endsAt: at("2026-03-01") });
  expect(expireDue(catalog, customer.wallet, at("2026-02-01"))).toBeNull();
  const end = viewDue(catalog, customer.wallet, at("2026-03-01"));
  expect(typesOf(end)).toEqual(["plan.ended", "balance.low", "balance.low", "balance.depleted"]);
});

test("a sweep ends a plan only together with what follows, whatever webhooks receive", () => {
  const customer = customerOn("pro", { endsAt: at("2026-01-10") });
  const withDefault = watched(
    makeCatalog({ pro: [image], free: [image] }, { defaultPlan: "free" }),
    THRESHOLDS,
  );
  const sweep = expireDue(
    { ...withDefault, noticeTypes: new Set(["plan.changed"]) },
    customer.wallet,
    at("2026-01-11"),
  );
  expect(sweep?.notices).toMatchObject([{ type: "plan.changed", plan: "free", previousPlan: "pro" }]);
});

test("a sweep does not report the end of a plan that another plan follows", () => {
  for (const [plan, types] of [
    ["plus", ["plan.changed"]],
    ["pro", []],
  ] as const) {
    const customer = customerOn("pro", { endsAt: at("2026-01-10") });
    customer.assign("2026-01-05", plan, { startsAt: at("2026-01-10") });
    const sweep = expireDue(catalog, customer.wallet, at("2026-01-11"));
    expect(typesOf(sweep ?? viewDue(catalog, customer.wallet, at("2026-01-11")))).toEqual(types);
  }
});

test("leaving a plan and returning does not reach its limit again", () => {
  const customer = customerOn("limited");
  customer.consume("2026-01-02", "image", 5);
  customer.reverse("2026-01-02", customer.entries.at(-1) ?? null, 1);
  customer.assign("2026-01-03", "pro");
  customer.assign("2026-01-04", "limited");
  taken(customer);
  customer.consume("2026-01-05", "image");
  expect(taken(customer)).toEqual([]);
});

test("counters of a plan and of overrides are told apart", () => {
  const customer = customerOn("pro");
  customer.override("2026-01-01", { image: { limit: { quantity: 8, period: "month" } } });
  customer.consume("2026-01-02", "image", 5);
  customer.assign("2026-01-03", "limited", { anchor: at("2026-01-01") });
  taken(customer);
  customer.consume("2026-01-04", "image", 3);
  expect(taken(customer)).toMatchObject([{ type: "limit.reached", limit: 8 }]);
  customer.reverse("2026-01-05", customer.entries.at(-1) ?? null, 1);
  customer.consume("2026-01-06", "image");
  expect(taken(customer)).toEqual([]);
});

test("a sweep reports credits that expire after a renewal was due", () => {
  const customer = customerOn("pro");
  customer.topUp("2026-01-02", 500, { expiresAt: at("2026-02-10") });
  const first = expireDue(catalog, customer.wallet, at("2026-02-05"));
  expect(first).toMatchObject({ entries: [{ kind: "expire", balanceAfter: 500 }], notices: [] });
  customer.wallet = first?.wallet ?? customer.wallet;
  customer.catalog = watched(catalog, [300]);
  const second = expireDue(customer.catalog, customer.wallet, at("2026-02-11"));
  expect(second?.notices).toMatchObject([{ type: "balance.low", threshold: 300, balance: 100 }]);
});

test("a sweep reports credits that expire for good", () => {
  const customer = customerOn("pro", { endsAt: at("2026-01-10") });
  const sweep = expireDue(catalog, customer.wallet, at("2026-01-11"));
  expect(typesOf(sweep)).toEqual(["plan.ended", "balance.low", "balance.low", "balance.depleted"]);
});

test("without a webhook, a wallet remembers nothing", () => {
  const customer = customerOn();
  customer.consume("2026-01-02", "image", 6);
  customer.reverse("2026-01-03", customer.entries.at(-1) ?? null);
  expect(customer.wallet.lows).toHaveLength(1);
  customer.catalog = { ...catalog, noticeTypes: new Set() };
  customer.consume("2026-01-04", "image");
  expect(customer.wallet).toMatchObject({ lows: [], peaks: [] });
});

test("only types that a webhook receives are noticed", () => {
  const customer = customerOn();
  customer.catalog = { ...catalog, noticeTypes: new Set(["balance.depleted"]) };
  customer.consume("2026-01-02", "image", 6);
  expect(taken(customer)).toEqual([]);
  customer.catalog = catalog;
  customer.consume("2026-01-02", "image", 4);
  expect(taken(customer)).toEqual([low(20, 0), { type: "balance.depleted", pool: "pool 1", balance: 0 }]);
});
