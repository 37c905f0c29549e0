import { expect, test } from "vitest";
import { at, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import type { Entry } from "./entry.ts";
import { OPEN_HOLDS_MAX } from "./wallet.ts";

const limited = { quantity: 5, period: "month" } as const;
const catalog = makeCatalog({
  pro: [
    { features: { image: null, text: null, export: limited } },
    {
      publishedAt: at("2026-02-10"),
      reach: "now",
      allowances: [monthly(60)],
      features: { image: null, text: null, export: limited },
      cost: { credits: 20, per: 1 },
    },
  ],
  bare: [{ allowances: [] }],
});

/** A customer with 100 credits a month. An image costs 10. */
function customerOn(plan = "pro"): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

const NOON = "2026-01-01T12:00:00";
const LATER = "2026-01-01T12:05:00";
const AFTER_EXPIRY = "2026-01-01T12:15:00";

const kindsOf = (entries: readonly Entry[]): unknown[] =>
  entries.map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter]);

test("a hold writes no entry, does not change the ledger balance, and sets aside credits that no other request can spend", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  expect(customer.entries).toHaveLength(1);
  expect(customer.balance).toBe(40);
  expect(customer.check(LATER, "image", 5)).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    affordableQuantity: 4,
  });
  expect(customer.release(LATER, hold)).toBe("released");
  expect([customer.balance, customer.entries.length, customer.wallet.openHolds]).toEqual([100, 1, 0]);
});

test("settling less than was held charges only what was used, and releases the rest", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  expect(customer.settle(LATER, hold, [2])).toMatchObject({
    kind: "settled",
    isLate: false,
    items: [{ creditsCharged: 20, creditsBeyondHold: 0, creditsUncovered: 0 }],
  });
  expect(customer.balance).toBe(80);
  expect(kindsOf(customer.entries.slice(1))).toEqual([["consume", -20, 80]]);
  expect(customer.entries.at(-1)).toMatchObject({ hold: hold.number, usage: { quantity: 2, uncovered: 0 } });
});

test("settling more than was held charges other credits, and the rest of the price is uncovered", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  expect(customer.settle(LATER, hold, [12])).toMatchObject({
    items: [{ creditsRequired: 120, creditsCharged: 100, creditsBeyondHold: 60, creditsUncovered: 20 }],
  });
  const entry = customer.entries.at(-1) ?? null;
  expect(entry).toMatchObject({ amount: -100, usage: { quantity: 12, uncovered: 20 } });
  // A reversal undoes the uncovered part first.
  expect(customer.reverse(LATER, entry, 2)).toMatchObject({ kind: "reversed", credits: 0 });
  expect(customer.reverse(LATER, entry, 3)).toMatchObject({ kind: "reversed", credits: 30 });
  expect(customer.balance).toBe(30);
});

test("with `atMostHeld`, and for a blocked customer, a settlement charges only held credits", () => {
  for (const isBlocked of [false, true]) {
    const customer = customerOn();
    const hold = customer.hold(NOON, { image: 6 });
    customer.wallet = { ...customer.wallet, isBlocked };
    expect(customer.settle(LATER, hold, [8], { atMostHeld: !isBlocked })).toMatchObject({
      items: [{ creditsCharged: 60, creditsBeyondHold: 20, creditsUncovered: 20 }],
    });
    expect(customer.balance).toBe(40);
  }
});

test("settling 0 releases everything and writes no entry", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  expect(customer.settle(LATER, hold, [0])).toMatchObject({ kind: "settled", items: [{ entry: null }] });
  expect([customer.balance, customer.entries.length]).toEqual([100, 1]);
});

test("the items of a hold share its credits, and are charged by consecutive entries", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 5, text: 10_000 });
  expect(customer.balance).toBe(20);
  const outcome = customer.settle(LATER, hold, [1, 20_000], { atMostHeld: true });
  expect(outcome).toMatchObject({
    items: [{ creditsCharged: 10 }, { creditsCharged: 60, creditsUncovered: 0 }],
  });
  expect(customer.entries.slice(1).map(({ usage }) => usage?.place)).toEqual([
    { index: 0, of: 2 },
    { index: 1, of: 2 },
  ]);
  expect(customer.balance).toBe(30);
});

test("a hold ends at its expiry, even if the expiry is processed later", () => {
  for (const when of [AFTER_EXPIRY, "2026-01-20"]) {
    const customer = customerOn();
    customer.hold(NOON, { image: 6 });
    expect(customer.consume(when, "image", 10).allowed).toBe(true);
    expect([customer.balance, customer.wallet.openHolds, customer.wallet.held]).toEqual([0, 0, []]);
  }
});

test("a hold with `onExpiry: charge` is charged in full, dated at its expiry", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 }, { onExpiry: "charge" });
  customer.topUp("2026-01-20", 1);
  expect(customer.entries[1]).toMatchObject({ kind: "consume", amount: -60, effectiveAt: at(AFTER_EXPIRY) });
  expect(customer.settle("2026-01-20", hold, [1]).kind).toBe("charged_on_expiry");
  expect(customer.release("2026-01-20", hold)).toBe("hold_expired");
  expect(customer.balance).toBe(41);
});

test("a hold that released its credits on expiry can be settled late, for 35 days", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  customer.consume("2026-01-02", "image", 7);
  expect(customer.settle("2026-01-03", hold)).toMatchObject({
    kind: "settled",
    isLate: true,
    items: [{ creditsCharged: 30, creditsUncovered: 30 }],
  });
  const other = customerOn();
  const late = other.hold(NOON, { image: 6 });
  expect(other.settle("2026-02-05T12:15:00", late).kind).toBe("settled");
  expect(other.settle("2026-02-05T12:15:01", late).kind).toBe("settled_too_late");
});

test("a hold can spend credits that expired while it was open; unspent credits expire when the hold ends", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-01-31T23:55:00", { image: 6 });
  customer.consume("2026-02-01T00:01:00", "image", 0);
  expect(kindsOf(customer.entries.slice(1))).toEqual([
    ["expire", -40, 60],
    ["grant", 100, 160],
    ["consume", 0, 160],
  ]);
  customer.settle("2026-02-01T00:05:00", hold, [2]);
  expect(kindsOf(customer.entries.slice(4))).toEqual([
    ["consume", -20, 140],
    ["expire", -40, 100],
  ]);
  expect(customer.balance).toBe(100);
});

test("after a plan change, credits held from the old plan's allowance stay with the old plan until the customer returns to it", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 6 });
  customer.assign(LATER, "bare");
  expect(customer.balance).toBe(0);
  expect(customer.release(LATER, hold)).toBe("released");
  expect(customer.balance).toBe(0);
  customer.assign("2026-01-02", "pro");
  expect(customer.balance).toBe(100);
});

test("a new plan version applies to held credits when the hold ends; the hold keeps its price", () => {
  const customer = customerOn();
  const hold = customer.hold("2026-02-09T12:00:00", { image: 9 }, { seconds: 86_400 });
  // The new version grants only 60, and the hold has set aside 90 of the old allowance.
  expect(customer.check("2026-02-10T06:00:00", "image").before?.balance).toBe(0);
  customer.settle("2026-02-10T06:00:00", hold, [2]);
  expect(customer.entries.find(({ kind }) => kind === "consume")?.amount).toBe(-20);
  expect(customer.balance).toBe(40);
});

test("a hold can spend credits that were revoked while it was open; unspent credits are removed when the hold ends", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-01", 50);
  const hold = customer.hold(NOON, { image: 3 });
  expect(customer.revoke(NOON, 1)).toBe(20);
  customer.settle(LATER, hold, [1]);
  expect(kindsOf(customer.entries)).toEqual([
    ["grant", 50, 50],
    ["revoke", -20, 30],
    ["consume", -10, 20],
    ["revoke", -20, 0],
  ]);
});

test("a hold counts toward a limit immediately; settling it corrects the count of the period in which it was opened", () => {
  const customer = customerOn();
  const used = (when: string) => customer.check(when, "export").before?.limit?.used;
  const hold = customer.hold("2026-01-31T23:50:00", { export: 4 });
  const other = customer.hold("2026-01-31T23:50:00", { export: 1 });
  expect(customer.check("2026-01-31T23:51:00", "export")).toMatchObject({ reason: "limit_reached" });
  customer.settle("2026-01-31T23:52:00", hold, [2]);
  expect(used("2026-01-31T23:53:00")).toBe(3);
  // Holds from the previous period do not count in the next period.
  customer.consume("2026-02-01T00:00:00", "export", 1);
  customer.settle("2026-02-01T00:01:00", other, [5]);
  expect(used("2026-02-01T00:02:00")).toBe(1);
});

test("a late settlement counts toward the limit of the hold's original plan, and the plan resumes with that count", () => {
  const plain = makeCatalog({
    free: [{ allowances: [], features: { export: limited }, cost: { credits: 0, per: 1 } }],
    bare: [{ allowances: [] }],
  });
  const customer = new Timeline(plain);
  customer.assign("2026-01-01", "free");
  const hold = customer.hold(NOON, { export: 3 });
  customer.assign("2026-01-02", "bare");
  expect(customer.settle("2026-01-03", hold)).toMatchObject({ kind: "settled", isLate: true });
  customer.assign("2026-01-04", "free");
  const { limit } = customer.check("2026-01-05", "export", 1).items[0]?.before ?? {};
  expect(limit).toMatchObject({ used: 3, remaining: 2 });
});

test("an extension can increase a hold's quantity and expiry but not reduce them, and can be repeated", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 3 });
  const first = customer.extend(LATER, hold, { quantity: 7, expiresAt: at("2026-01-02") });
  expect(first).toMatchObject({ kind: "extended", hold: { expiresAt: at("2026-01-02") } });
  if (first.kind !== "extended") return;
  expect(customer.balance).toBe(30);
  const again = customer.extend(LATER, first.hold, { quantity: 7, expiresAt: at("2026-01-02") });
  expect(again).toEqual({ kind: "extended", hold: first.hold, change: null });
  const lower = customer.extend(LATER, first.hold, { quantity: 1, expiresAt: at(AFTER_EXPIRY) });
  expect(lower).toEqual({ kind: "extended", hold: first.hold, change: null });
  customer.settle("2026-01-01T23:00:00", first.hold, [7]);
  expect(customer.balance).toBe(30);
});

test("a hold does not change if its extension is not affordable, exceeds the limit or is too long", () => {
  const customer = customerOn();
  const hold = customer.hold(NOON, { image: 3 });
  const end = at("2026-01-02");
  expect(customer.extend(LATER, hold, { quantity: 11, expiresAt: end })).toMatchObject({
    kind: "denied",
    reason: "insufficient_credits",
    affordableQuantity: 10,
  });
  expect(customer.wallet.holds).toEqual([hold]);
  const limit = customer.hold(NOON, { export: 3 });
  expect(customer.extend(LATER, limit, { quantity: 6 })).toMatchObject({
    kind: "denied",
    reason: "limit_reached",
    affordableQuantity: 5,
  });
  expect(customer.extend(LATER, hold, { expiresAt: at("2026-01-08T12:00:01") }).kind).toBe(
    "expires_too_late",
  );
  expect(customer.extend(AFTER_EXPIRY, hold, { quantity: 4 }).kind).toBe("hold_expired");
});

test("a customer has at most 1,000 open holds; expired holds do not count", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-01", 100_000);
  for (let i = 0; i < OPEN_HOLDS_MAX; i++) customer.hold(NOON, { image: 1 });
  const terms = { seconds: 900, onExpiry: "release" } as const;
  expect(customer.tryHold(LATER, { image: 1 }, terms).kind).toBe("too_many_holds");
  expect(customer.tryHold(AFTER_EXPIRY, { image: 1 }, terms)).toMatchObject({ allowed: true });
  expect(customer.wallet.openHolds).toBe(1);
});
