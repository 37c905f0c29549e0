import { expect, test } from "vitest";
import { at, CREDITS, STORAGE } from "../../test/catalog.ts";
import type { Alerts } from "./alerts.ts";
import type { Entry } from "./entry.ts";
import { FoldedAlerts } from "./folded-alerts.ts";
import { newWallet } from "./wallet.ts";

const RULE = { below: 50, credits: 200, monthlyMax: 2 };
const RULES = { pool: CREDITS, lowBalances: null, topUp: RULE };
const OPEN = { number: 2, requestedAt: at("2026-01-05"), attempt: 1, askedAt: at("2026-01-05"), credits: 10 };
const TOP_UPS = { pool: CREDITS, month: at("2026-01-01"), requests: 2, open: OPEN };
const SOUND: Alerts = { pools: [RULES], topUps: [TOP_UPS], topUpCount: 2 };

const GRANT = { number: 1, slot: 1, pool: CREDITS, credits: 10, expiresAt: null, isRevoked: false };

/** The flaw of a wallet with these rules, after a purchase at this time. */
function flawOf(change: Partial<Alerts>, purchasedAt = at("2026-01-05"), amount = 10): string | null {
  const folded = new FoldedAlerts([{ ...GRANT, kind: "purchase" }]);
  const entry: Entry = {
    ...{ sequence: 1, kind: "grant", pool: CREDITS, amount, balanceAfter: amount, effectiveAt: purchasedAt },
    ...{ parts: [{ grant: 1, amount }], usage: null, hold: null },
  };
  folded.add(entry);
  return folded.compare({ ...newWallet(at("2026-01-06")), alerts: { ...SOUND, ...change } });
}

test("valid rules and requests are accepted, also after a purchase that was too small", () => {
  expect(flawOf({})).toBeNull();
  expect(flawOf({}, at("2026-01-06"), 9)).toBeNull();
  expect(flawOf({ pools: [] })).toBeNull();
  expect(flawOf({ pools: [], topUps: [{ ...TOP_UPS, open: null }] })).toBeNull();
});

test("a request that is open after a purchase is reported", () => {
  expect(flawOf({}, at("2026-01-06"))).toMatch(/a purchase has closed it/);
});

test.each([
  ["two rules for one pool", { pools: [RULES, RULES] }],
  ["pools in the wrong order", { pools: [{ ...RULES, pool: STORAGE }, RULES] }],
  ["a number beyond the count", { topUpCount: 1 }],
  ["an open request that was never made", { topUps: [{ ...TOP_UPS, requests: 0 }] }],
  ["a month that has not begun", { topUps: [{ ...TOP_UPS, month: at("2026-02-01") }] }],
  [
    "an attempt before the request",
    { topUps: [{ ...TOP_UPS, open: { ...OPEN, askedAt: at("2026-01-04") } }] },
  ],
  [
    "an attempt after the last decision",
    { topUps: [{ ...TOP_UPS, open: { ...OPEN, askedAt: at("2026-01-07") } }] },
  ],
])("%s is reported", (_, change) => {
  // The purchase comes before all attempts, so that it answers none of them.
  expect(flawOf(change, at("2026-01-03"))).not.toBeNull();
});
