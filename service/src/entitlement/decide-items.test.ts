import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly, STORAGE } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { brandAs, type FeatureKey } from "../primitives/brand.ts";
import { decide } from "./decide.ts";

const catalog = makeCatalog({
  pro: [
    {
      allowances: [monthly(100), { pool: STORAGE, credits: 50, period: "month", rollover: 0, overage: 0 }],
      features: { image: null, text: null, export: { quantity: 5, period: "day" }, disk: null },
    },
  ],
});

function onPro(): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-31", "pro");
  return customer;
}

test("all items of a request are charged, as consecutive entries with their positions in the request", () => {
  const customer = onPro();
  const { sequence } = customer.wallet;
  const decision = customer.consumeItems("2026-02-01", { image: 2, disk: 30, text: 1_500 });
  expect(decision).toMatchObject({
    allowed: true,
    reason: null,
    deniedItem: null,
    affordableQuantity: null,
    items: [{ creditsRequired: 20 }, { creditsRequired: 30 }, { creditsRequired: 5 }],
  });
  expect(decision.change?.entries).toMatchObject([
    {
      sequence: sequence + 1,
      pool: CREDITS,
      amount: -20,
      balanceAfter: 80,
      usage: { quantity: 2, place: { index: 0, of: 3 } },
    },
    {
      sequence: sequence + 2,
      pool: STORAGE,
      amount: -30,
      balanceAfter: 20,
      usage: { quantity: 30, place: { index: 1, of: 3 } },
    },
    {
      sequence: sequence + 3,
      pool: CREDITS,
      amount: -5,
      balanceAfter: 75,
      usage: { quantity: 1_500, place: { index: 2, of: 3 } },
    },
  ]);
  expect(decision.items.map(({ entry }) => entry)).toEqual(decision.change?.entries);
});

test("the charge of a request with a single item has no position", () => {
  const { entry } = onPro().consume("2026-02-01", "image");
  expect(entry?.usage?.place).toBeNull();
});

test("for each item, the decision has the balance and limit before and after the whole request", () => {
  const { items } = onPro().consumeItems("2026-02-01", { image: 2, disk: 30, export: 4, text: 1_000 });
  expect(items.map(({ before, after }) => [before?.balance, after?.balance])).toEqual([
    [100, 77],
    [50, 20],
    [100, 77],
    [100, 77],
  ]);
  expect(items[2]).toMatchObject({
    before: { limit: { used: 0 } },
    after: { limit: { used: 4, remaining: 1 } },
  });
});

test("if one item cannot be charged, the whole request is denied and nothing is charged", () => {
  const customer = onPro();
  const { wallet } = customer;
  const decision = customer.consumeItems("2026-02-01", { image: 2, disk: 51, text: 1_000 });
  expect(decision).toMatchObject({
    allowed: false,
    reason: "insufficient_credits",
    deniedItem: 1,
    affordableQuantity: 50,
    change: null,
  });
  for (const item of decision.items) {
    expect(item.entry).toBeNull();
    expect(item.after).toEqual(item.before);
  }
  expect(decision.items.map(({ before }) => before?.balance)).toEqual([100, 50, 100]);
  expect(customer.wallet).toBe(wallet);
});

test("a denied request with items writes only due changes", () => {
  const customer = onPro();
  const decision = customer.consumeItems("2026-03-05", { image: 10, text: 1 });
  expect(decision).toMatchObject({ allowed: false, deniedItem: 1 });
  expect(decision.change?.entries.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["expire", -100],
    ["expire", -50],
    ["grant", 100],
    ["grant", 50],
  ]);
  expect(customer.balance).toBe(100);
});

test("earlier items reduce only the credits left for later items in the same pool", () => {
  const customer = onPro();
  expect(customer.checkItems("2026-02-01", { image: 10, disk: 50 }).allowed).toBe(true);
  expect(customer.checkItems("2026-02-01", { image: 9, text: 3_333 }).allowed).toBe(true); // 90 + 10
  expect(customer.checkItems("2026-02-01", { image: 9, text: 3_334 })).toMatchObject({
    reason: "insufficient_credits",
    deniedItem: 1,
    items: [{ creditsBefore: 0 }, { creditsRequired: 11, creditsBefore: 90, before: { balance: 100 } }],
  });
  expect(customer.checkItems("2026-02-01", { disk: 50, image: 10, text: 1 })).toMatchObject({
    deniedItem: 2,
    items: [{ creditsBefore: 0 }, { creditsBefore: 0 }, { creditsBefore: 100 }],
  });
});

test("the affordable quantity of the denied item excludes credits that earlier items need", () => {
  const customer = onPro();
  expect(customer.check("2026-02-01", "text", 1_000_000).affordableQuantity).toBe(33_333); // 100 credits
  expect(customer.checkItems("2026-02-01", { image: 9, text: 1_000_000 }).affordableQuantity).toBe(3_333);
  expect(customer.checkItems("2026-02-01", { image: 10, text: 1_000_000 }).affordableQuantity).toBe(0);
  expect(customer.checkItems("2026-02-01", { disk: 50, text: 1_000_000 }).affordableQuantity).toBe(33_333);
  expect(customer.checkItems("2026-02-01", { image: 9, text: 3_333 }).affordableQuantity).toBeNull();
});

test("the affordable quantity is what the balance or the limit allows, whichever is less", () => {
  const cost = { credits: 10, per: 1 };
  const limited = { image: null, export: { quantity: 5, period: "day" } } as const;
  const customer = new Timeline(makeCatalog({ pro: [{ features: limited, cost }] }));
  customer.assign("2026-01-31", "pro");
  expect(customer.check("2026-02-01", "export", 6)).toMatchObject({
    reason: "limit_reached",
    affordableQuantity: 5,
  });
  expect(customer.checkItems("2026-02-01", { image: 7, export: 6 })).toMatchObject({
    reason: "limit_reached",
    deniedItem: 1,
    affordableQuantity: 3,
  });
  expect(customer.checkItems("2026-02-01", { image: 7, export: 5 })).toMatchObject({
    reason: "insufficient_credits",
    affordableQuantity: 3,
  });
});

test("the affordable quantity is 0 for all other denial reasons", () => {
  const customer = new Timeline(makeCatalog({ bare: [{}] }));
  customer.assign("2026-01-31", "bare");
  const unknown = { feature: brandAs<FeatureKey>("image"), quantity: 5 };
  expect(decide(catalog, null, [unknown], at("2026-02-01"))).toMatchObject({
    deniedItem: 0,
    affordableQuantity: 0,
  });
  expect(new Timeline(catalog).check("2026-02-01", "image", 5)).toMatchObject({
    deniedItem: 0,
    affordableQuantity: 0,
  });
  expect(customer.checkItems("2026-02-01", { image: 5, disk: 5 })).toMatchObject({
    reason: "feature_not_in_plan",
    deniedItem: 1,
    affordableQuantity: 0,
  });
  customer.wallet = { ...customer.wallet, isBlocked: true };
  expect(customer.checkItems("2026-02-01", { image: 5, text: 5 })).toMatchObject({
    reason: "customer_blocked",
    deniedItem: 0,
    affordableQuantity: 0,
  });
});

test("the first item that cannot be allowed is reported, even if later items would be denied for other reasons", () => {
  const customer = onPro();
  expect(customer.checkItems("2026-02-01", { export: 6, image: 11 })).toMatchObject({
    reason: "limit_reached",
    deniedItem: 0,
    affordableQuantity: 5,
  });
  expect(customer.checkItems("2026-02-01", { image: 11, export: 6 })).toMatchObject({
    reason: "insufficient_credits",
    deniedItem: 0,
    affordableQuantity: 10,
  });
});

test("an unknown feature among the items is reported before anything is decided", () => {
  const requested = ["image", "image2", "image3"].map((key) => ({
    feature: brandAs<FeatureKey>(key),
    quantity: 1,
  }));
  for (const wallet of [null, onPro().wallet])
    expect(decide(catalog, wallet, requested, at("2026-02-01"))).toEqual({
      kind: "feature_not_found",
      feature: "image2",
    });
});
