import { expect, test } from "vitest";
import { at, CREDITS, getFeature, makeCatalog, monthly } from "../../test/catalog.ts";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { histories } from "../../test/model/history.ts";
import { playStep, startBook } from "../../test/model/play.ts";
import type { Script } from "../../test/model/script.ts";
import { Timeline } from "../../test/timeline.ts";
import type { FeatureId, PoolId } from "../primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "../store/cell/wallet-state.ts";
import { type Catalog, NOTICE_TYPES } from "./catalog.ts";
import type { Entry, Notice } from "./entry.ts";
import { expireDue } from "./expire-due.ts";
import { viewDue } from "./view-wallet.ts";
import { balanceOf, heldIn, type Wallet } from "./wallet.ts";

const THRESHOLDS = [50, 20];

/** A catalog whose environment has a webhook for all types. */
function watched(catalog: Catalog, lowBalances: readonly number[] = THRESHOLDS): Catalog {
  const pools = new Map([...catalog.pools].map(([id, pool]) => [id, { ...pool, lowBalances }]));
  return { ...catalog, pools, noticeTypes: new Set(NOTICE_TYPES) };
}

const image = { features: { image: null } } as const;
const catalog = watched(
  makeCatalog({
    pro: [image],
    plus: [{ ...image, allowances: [{ ...monthly(100), overage: 50 }] }],
    limited: [{ features: { image: { quantity: 5, period: "month" } }, allowances: [monthly(1_000)] }],
    small: [{ ...image, allowances: [monthly(30)] }],
  }),
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
    { feature: getFeature("image").id, end: at("2026-02-01"), used: 5 },
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

test("a sweep does not report a balance that the next allowance restores", () => {
  const customer = customerOn("pro", { anchor: at("2026-01-01") });
  const sweep = expireDue(catalog, customer.wallet, at("2026-02-01"));
  expect(sweep?.entries).toMatchObject([{ kind: "expire", balanceAfter: 0 }]);
  expect(sweep?.notices).toEqual([]);
  const due = viewDue(catalog, sweep?.wallet ?? customer.wallet, at("2026-02-01"));
  expect(due).toMatchObject({ entries: [{ kind: "grant", balanceAfter: 100 }], notices: [] });
});

test("a sweep reports credits that expire for good", () => {
  const customer = customerOn("pro", { endsAt: at("2026-01-10") });
  const sweep = expireDue(catalog, customer.wallet, at("2026-01-11"));
  expect(sweep?.notices.map(({ type }) => type)).toEqual([
    "plan.ended",
    "balance.low",
    "balance.low",
    "balance.depleted",
  ]);
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

/** Which thresholds of a pool a grant has armed. Independent of the core: remembers every threshold instead of one balance. */
class ArmedThresholds {
  readonly #armed = new Map<PoolId, Set<number>>();

  /** The thresholds that a change crosses. 0 stands for overage, and 1 for a depleted balance. */
  add(entries: readonly Entry[]): string[] {
    const lowest = new Map<PoolId, number>();
    for (const { kind, pool, balanceAfter, usage } of entries) {
      const armed = this.#armed.get(pool) ?? new Set<number>();
      this.#armed.set(pool, armed);
      const usesOverage = kind === "consume" && (usage?.overage ?? []).length > 0;
      const level = usesOverage ? -1 : balanceAfter;
      if (kind === "grant") {
        for (const threshold of [...THRESHOLDS, 1, 0]) if (level >= threshold) armed.add(threshold);
        lowest.set(pool, level);
      } else lowest.set(pool, Math.min(lowest.get(pool) ?? level, level));
    }
    const crossed: string[] = [];
    for (const [pool, level] of lowest) {
      const armed = this.#armed.get(pool) ?? new Set();
      for (const threshold of [...THRESHOLDS, 1, 0])
        if (level < threshold && armed.delete(threshold)) crossed.push(`${pool} ${threshold}`);
    }
    return crossed;
  }
}

const NUMBER_OF = { "balance.depleted": 1, "overage.started": 0 } as const;

test(
  "in random histories, a threshold is crossed once between two grants, and stored wallets remember it",
  { timeout: HISTORIES_TIMEOUT_MS },
  () => forEveryHistory(HISTORIES / 2, followThresholds, histories),
);

function followThresholds(script: Script): void {
  const book = startBook(script);
  const thresholds = new ArmedThresholds();
  for (const step of script.steps) {
    const catalog = watched(step.catalog);
    const { change } = playStep(book, { ...step, catalog });
    if (change === null) continue;
    const { notices, entries, wallet } = change;
    const crossed = notices.flatMap((notice) => {
      if (!("pool" in notice)) return [];
      const pool = [...catalog.pools.values()].find(({ key }) => key === notice.pool);
      return [`${pool?.id} ${"threshold" in notice ? notice.threshold : NUMBER_OF[notice.type]}`];
    });
    expect(crossed.sort()).toEqual(thresholds.add(entries).sort());
    for (const { pool, balance } of wallet.lows) expect(balance).toBeLessThan(totalOf(wallet, pool));
    for (const { feature, used } of wallet.peaks) expect(used).toBeGreaterThan(usedOf(wallet, feature));
    const { sequence, decidedAt, isBlocked, holds, holdsUntil } = wallet;
    const stored = decodeWalletState(encodeWalletState(wallet), { sequence, decidedAt, isBlocked });
    expect({ ...stored, holds, holdsUntil }).toEqual(wallet);
  }
}

function totalOf(wallet: Wallet, pool: PoolId): number {
  return balanceOf(wallet, pool) + heldIn(wallet, pool);
}

function usedOf({ assignment, ownCounters }: Wallet, feature: FeatureId): number {
  const counters = [...(assignment?.counters ?? []), ...ownCounters];
  return Math.min(...counters.filter((counter) => counter.feature === feature).map(({ used }) => used));
}
