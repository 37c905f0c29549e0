import fc from "fast-check";
import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import { brandAs, type FeatureKey } from "../primitives/brand.ts";
import { chargeFor } from "./catalog.ts";
import { decide } from "./decide.ts";

const pro = makeCatalog({
  pro: [{ features: { image: null, text: null, export: { quantity: 5, period: "day" } } }],
});

function onPro(): Timeline {
  const customer = new Timeline(pro);
  customer.assign("2026-01-31", "pro");
  return customer;
}

test.each([
  [{ credits: 10, per: 1 }, 3, 30],
  [{ credits: 3, per: 1000 }, 1, 1],
  [{ credits: 3, per: 1000 }, 1000, 3],
  [{ credits: 3, per: 1000 }, 1001, 4],
  // 85 * (3 / 17) is more than 15 in floating-point arithmetic.
  [{ credits: 3, per: 17 }, 85, 15],
  [{ credits: 0, per: 1 }, 1_000_000, 0],
  [{ credits: 1_000_000_000, per: 1 }, 1_000_000, 1e15],
])("at cost %o, a quantity of %i costs %i credits", (cost, quantity, credits) => {
  expect(chargeFor(cost, quantity)).toBe(credits);
});

test("charges of any size are rounded up to the next whole credit without precision errors", () => {
  const costs = fc.record({ credits: fc.nat(1_000_000_000), per: fc.integer({ min: 1, max: 1_000_000 }) });
  fc.assert(
    fc.property(costs, fc.integer({ min: 1, max: 1_000_000 }), (cost, quantity) => {
      const product = BigInt(cost.credits) * BigInt(quantity);
      const exact = (product + BigInt(cost.per) - 1n) / BigInt(cost.per);
      expect(BigInt(chargeFor(cost, quantity))).toBe(exact);
    }),
    { numRuns: 5_000 },
  );
});

test("check reports the state before the charge, consume the state after it, and only consume changes the wallet", () => {
  const customer = onPro();
  const checked = customer.check("2026-02-01", "image", 2);
  expect(checked).toMatchObject({ allowed: true, creditsRequired: 20, before: { balance: 100 } });
  expect(customer.balance).toBe(100);
  const consumed = customer.consume("2026-02-01", "image", 2);
  expect(consumed).toMatchObject({ allowed: true, after: { balance: 80, resetsAt: at("2026-02-28") } });
  expect(consumed.entry).toMatchObject({
    kind: "consume",
    amount: -20,
    balanceAfter: 80,
    parts: [{ grant: 1, amount: -20 }],
    usage: { quantity: 2, reverses: null },
  });
});

test("denial reasons are checked in their documented order", () => {
  const customer = new Timeline(pro);
  const ask = () => customer.check("2026-02-01", "image", 1_000).reason;
  const question = { feature: brandAs<FeatureKey>("image"), quantity: 1 };
  expect(decide(pro, null, [question], at("2026-02-01"))).toMatchObject({
    reason: "customer_not_found",
    items: [{ before: null }],
  });
  expect(ask()).toBe("no_active_plan");
  customer.assign("2026-01-31", "pro");
  expect(customer.check("2026-02-01", "disk").reason).toBe("feature_not_in_plan");
  expect(customer.check("2026-02-01", "export", 6).reason).toBe("limit_reached");
  expect(ask()).toBe("insufficient_credits");
  customer.wallet = { ...customer.wallet, isBlocked: true };
  for (const feature of ["image", "disk", "export"])
    expect(customer.check("2026-02-01", feature, 1_000).reason).toBe("customer_blocked");
});

test("an unknown feature is reported as unknown, even for an unknown customer", () => {
  const question = { feature: brandAs<FeatureKey>("image2"), quantity: 1 };
  expect(decide(pro, null, [question], at("2026-02-01"))).toEqual({
    kind: "feature_not_found",
    feature: "image2",
  });
});

test("a decision for an unknown customer uses the default plan, as if the customer were created now", () => {
  const catalog = makeCatalog({ free: [{ allowances: [monthly(30)] }] }, { defaultPlan: "free" });
  const question = { feature: brandAs<FeatureKey>("image"), quantity: 1 };
  expect(decide(catalog, null, [question], at("2026-02-01"))).toMatchObject({
    allowed: true,
    items: [{ before: { balance: 30, resetsAt: at("2026-03-01") } }],
  });
});

test("credits that expire first are spent first; ties: free before purchased, then oldest first", () => {
  const customer = new Timeline(makeCatalog({ pro: [{ allowances: [] }] }));
  customer.assign("2026-01-01", "pro");
  customer.topUp("2026-01-01", 10); // 1: purchased, never expires
  customer.topUp("2026-01-01", 10, { expiresAt: at("2026-06-01") }); // 2: purchased, June
  customer.topUp("2026-01-01", 10, { kind: "manual", expiresAt: at("2026-06-01") }); // 3: free, June
  customer.topUp("2026-01-01", 10, { kind: "manual", expiresAt: at("2026-03-01") }); // 4: free, March
  customer.topUp("2026-01-01", 10, { kind: "manual" }); // 5: free, never expires
  const { entry } = customer.consume("2026-01-02", "image", 5);
  expect(entry?.parts.map(({ grant }) => grant)).toEqual([4, 3, 2, 5, 1]);
  expect(customer.balance).toBe(0);
});

test("a grant is usable before its expiry, but not at that moment", () => {
  const customer = new Timeline(makeCatalog({ pro: [{ allowances: [] }] }));
  customer.assign("2026-01-01", "pro");
  customer.topUp("2026-01-01", 10, { expiresAt: at("2026-02-01") });
  expect(customer.check("2026-01-31T23:59:59.999", "image").allowed).toBe(true);
  expect(customer.check("2026-02-01T00:00:00", "image").reason).toBe("insufficient_credits");
});

test("a limit counts usage per period of the assignment, and resets when the next period starts", () => {
  const customer = onPro();
  for (let use = 1; use <= 5; use++)
    expect(customer.consume("2026-02-01T10:00:00", "export").allowed).toBe(true);
  expect(customer.consume("2026-02-01T23:59:59", "export")).toMatchObject({
    reason: "limit_reached",
    after: { limit: { quantity: 5, used: 5, remaining: 0, resetsAt: at("2026-02-02") } },
  });
  expect(customer.consume("2026-02-02", "export")).toMatchObject({
    allowed: true,
    after: { limit: { used: 1 } },
  });
});

test("a denial changes nothing", () => {
  const customer = onPro();
  const { wallet } = customer;
  expect(customer.consume("2026-02-01", "image", 11)).toMatchObject({
    allowed: false,
    change: null,
    entry: null,
  });
  expect(customer.wallet).toBe(wallet);
});

test("if the clock steps back, a charge is dated at the wallet's last decision", () => {
  const customer = onPro();
  customer.consume("2026-03-05", "image");
  const { sequence } = customer.wallet;
  const decision = customer.consume("2026-02-10", "image");
  expect(decision.entry).toMatchObject({
    sequence: sequence + 1,
    effectiveAt: at("2026-03-05"),
    pool: CREDITS,
  });
});
