import { expect, test } from "vitest";
import { at, CREDITS, makeCatalog, monthly, STORAGE } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";
import type { PoolId } from "../primitives/brand.ts";
import { averagePerDay, forecast, forecastPool } from "./forecast.ts";
import { viewWallet } from "./view-wallet.ts";

const NOW = at("2026-01-10");
const never = { renewsAt: null, overage: 0 } as const;
const grant = (remaining: number, expiresAt: string | null = null) => ({
  remaining,
  expiresAt: expiresAt === null ? null : at(expiresAt),
});

test.each([
  ["no use", [grant(100)], 0, { kind: "not_used" }],
  ["more reversed than used", [grant(100)], -5, { kind: "not_used" }],
  [
    "30 credits at 10 a day",
    [grant(30)],
    10,
    { kind: "runs_out", emptyAt: at("2026-01-13"), renewsAt: null },
  ],
  [
    "several grants",
    [grant(10), grant(20)],
    10,
    { kind: "runs_out", emptyAt: at("2026-01-13"), renewsAt: null },
  ],
  ["no credits", [], 10, { kind: "empty", renewsAt: null }],
  ["a spent allowance", [grant(0)], 0, { kind: "empty", renewsAt: null }],
  ["a huge balance", [grant(Number.MAX_SAFE_INTEGER)], 1, { kind: "lasts" }],
  ["a year exactly", [grant(365)], 1, { kind: "runs_out", emptyAt: at("2027-01-10"), renewsAt: null }],
  [
    "credits that expire before they are used",
    [grant(1_000, "2026-01-12"), grant(10)],
    10,
    { kind: "runs_out", emptyAt: at("2026-01-13"), renewsAt: null },
  ],
  [
    "two grants that expire together",
    [grant(1_000, "2026-01-12"), grant(1_000, "2026-01-12")],
    10,
    { kind: "runs_out", emptyAt: at("2026-01-12"), renewsAt: null },
  ],
])("%s", (_name, grants, perDay, expected) => {
  expect(forecast({ ...never, grants }, perDay, NOW)).toEqual(expected);
});

test("overage delays when credits run out; with unlimited overage, credits never run out", () => {
  const grants = [grant(10)];
  expect(forecast({ grants, overage: 20, renewsAt: null }, 10, NOW)).toMatchObject({
    emptyAt: at("2026-01-13"),
  });
  expect(forecast({ grants: [], overage: 20, renewsAt: null }, 10, NOW)).toMatchObject({ kind: "runs_out" });
  expect(forecast({ grants: [], overage: null, renewsAt: null }, 10, NOW)).toEqual({ kind: "unlimited" });
});

test("credits that renew before they are used up are not reported as running out", () => {
  const renewsAt = at("2026-01-13");
  const of = (credits: number) => forecast({ grants: [grant(credits)], overage: 0, renewsAt }, 10, NOW);
  expect(of(29)).toEqual({ kind: "runs_out", emptyAt: at("2026-01-12T21:36:00"), renewsAt });
  expect(of(30)).toEqual({ kind: "renews", renewsAt });
  expect(of(0)).toEqual({ kind: "empty", renewsAt });
});

const catalog = makeCatalog({
  pro: [{ allowances: [monthly(100)] }],
  basic: [{ allowances: [monthly(20)] }],
  storage: [{ allowances: [{ ...monthly(50), pool: STORAGE }] }],
  none: [{ allowances: [] }],
});

function outlook(customer: Timeline, perDay: number, pool: PoolId = CREDITS) {
  const wallet = viewWallet(customer.catalog, customer.wallet, NOW);
  return forecastPool(customer.catalog, wallet, { pool, perDay }, NOW);
}

function customerOn(plan: string, sold = catalog): Timeline {
  const customer = new Timeline(sold);
  customer.assign("2026-01-01", plan);
  return customer;
}

test("a monthly allowance lasts until it renews, or runs out earlier", () => {
  expect(outlook(customerOn("pro"), 4)).toEqual({ kind: "renews", renewsAt: at("2026-02-01") });
  expect(outlook(customerOn("pro"), 10)).toEqual({
    kind: "runs_out",
    emptyAt: at("2026-01-20"),
    renewsAt: at("2026-02-01"),
  });
});

test("each pool has its own forecast", () => {
  const customer = customerOn("storage");
  customer.topUp("2026-01-02", 30);
  expect(outlook(customer, 10)).toMatchObject({
    kind: "runs_out",
    emptyAt: at("2026-01-13"),
    renewsAt: null,
  });
  expect(outlook(customer, 1, STORAGE)).toEqual({ kind: "renews", renewsAt: at("2026-02-01") });
});

test("an allowance is lost when its plan ends, and does not renew", () => {
  const customer = customerOn("pro");
  customer.assign("2026-01-02", "pro", { endsAt: "period_end", shorten: true });
  customer.topUp("2026-01-02", 10);
  expect(outlook(customer, 1)).toEqual({ kind: "runs_out", emptyAt: at("2026-02-11"), renewsAt: null });
});

test("the pending plan or the default plan renews credits, unless it has no allowance", () => {
  const downgraded = customerOn("pro");
  downgraded.assign("2026-01-02", "basic", { startsAt: "period_end" });
  expect(outlook(downgraded, 1)).toEqual({ kind: "renews", renewsAt: at("2026-02-01") });
  const emptied = customerOn("pro");
  emptied.assign("2026-01-02", "none", { startsAt: "period_end" });
  expect(outlook(emptied, 1)).toMatchObject({ kind: "runs_out", renewsAt: null });
  const ending = customerOn("pro", makeCatalog({ pro: [{}], free: [{}] }, { defaultPlan: "free" }));
  ending.assign("2026-01-02", "pro", { endsAt: "period_end", shorten: true });
  expect(outlook(ending, 1)).toEqual({ kind: "renews", renewsAt: at("2026-02-01") });
});

test("the average covers the days since the customer was created, but at least one day", () => {
  const since = at("2025-12-27");
  const average = (createdAt: string) => averagePerDay(140, { since, createdAt: at(createdAt), now: NOW });
  expect(average("2020-01-01")).toBe(10);
  expect(average("2026-01-08")).toBe(70);
  // All of the usage is from today.
  expect(average("2026-01-09T20:00:00")).toBe(140);
});
