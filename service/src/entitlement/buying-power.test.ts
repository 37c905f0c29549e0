import fc from "fast-check";
import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, planId, STORAGE } from "../../test/catalog.ts";
import { buyingPower, findCurrentVersion, unitsFor } from "./buying-power.ts";
import { chargeFor } from "./catalog.ts";
import { newWallet } from "./wallet.ts";

test("credits pay for the computed units, but not for one more unit", () => {
  const cost = fc.record({
    credits: fc.integer({ min: 1, max: 1_000_000 }),
    per: fc.integer({ min: 1, max: 1_000_000 }),
  });
  fc.assert(
    fc.property(cost, fc.integer({ min: 1, max: 1_000_000 }), (terms, credits) => {
      const units = unitsFor(terms, credits);
      expect(units === 0 ? 0 : chargeFor(terms, units)).toBeLessThanOrEqual(credits);
      const product = (units + 1) * terms.credits;
      if (Number.isSafeInteger(product)) expect(chargeFor(terms, units + 1)).toBeGreaterThan(credits);
    }),
  );
});

test("the largest balance at the smallest cost buys a quantity that is a safe integer", () => {
  expect(unitsFor({ credits: 1, per: 1_000_000 }, Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
});

test("buying power lists the features in the credits' pool that have a cost", () => {
  const catalog = makeCatalog({ pro: [{ features: { image: null, text: null, export: null, disk: null } }] });
  const plan = catalog.plans.get(planId(catalog, "pro"));
  const version = plan?.versions[0] ?? null;
  expect(buyingPower(version, null, { pool: CREDITS, credits: 25 })).toEqual([
    { feature: 1, quantity: 2 },
    { feature: 2, quantity: 8_333 },
  ]);
  expect(buyingPower(version, null, { pool: STORAGE, credits: 25 })).toEqual([{ feature: 4, quantity: 25 }]);
  expect(buyingPower(null, null, { pool: CREDITS, credits: 25 })).toEqual([]);
});

test("a new customer uses the default plan; a customer whose plan has ended does not", () => {
  const wallet = newWallet(at("2026-01-01"));
  const catalog = makeCatalog({ free: [{}] }, { defaultPlan: "free" });
  expect(findCurrentVersion(catalog, wallet)).not.toBeNull();
  expect(findCurrentVersion(catalog, { ...wallet, assignmentCount: 1 })).toBeNull();
  expect(findCurrentVersion(makeCatalog({ free: [{}] }), wallet)).toBeNull();
});
