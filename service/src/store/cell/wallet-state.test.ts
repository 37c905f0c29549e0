import { expect, test } from "vitest";
import {
  type Hold,
  newWallet,
  type Overrides,
  type OwnCounter,
  type PlanEvent,
  type Wallet,
} from "../../entitlement/wallet.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { decodeWalletState, encodeWalletState, holdsUntilIn } from "./wallet-state.ts";

const instant = (ms: number): Instant => brandAs<Instant>(ms);
const EVENTS: readonly PlanEvent[] = ["assign", "cut", "schedule", "manual", "closed"];
const NEXT = {
  plan: brandAs<PlanId>(3),
  startsAt: instant(2_000),
  endsAt: null,
  anchor: instant(2_000),
  shorten: true,
};

function walletWith(planEvent: PlanEvent, next: Wallet["next"]): Wallet {
  return { ...newWallet(instant(0)), planAsOf: instant(1_000), planEvent, next };
}

test.each(EVENTS)("a wallet is read as it was written, after the event %s", (planEvent) => {
  for (const next of [null, NEXT]) {
    const wallet = walletWith(planEvent, next);
    expect(decodeWalletState(encodeWalletState(wallet), wallet)).toEqual(wallet);
  }
  const unmarked = { ...newWallet(instant(0)), next: NEXT };
  expect(decodeWalletState(encodeWalletState(unmarked), unmarked)).toEqual(unmarked);
});

const FEATURE = brandAs<FeatureId>(5);
const POOL = brandAs<PoolId>(6);
const OVERRIDES: Overrides = {
  number: 2,
  endsAt: instant(9_000),
  features: [
    { feature: FEATURE, included: null, cost: null, limit: undefined, added: null },
    { feature: FEATURE, included: false, cost: { credits: 0, per: 3 }, limit: null, added: null },
    {
      feature: FEATURE,
      included: true,
      cost: null,
      limit: { quantity: 0, period: "once", anchor: instant(4) },
      added: { pool: POOL, cost: { credits: 1, per: 2 } },
    },
  ],
  allowances: [
    { pool: POOL, period: "month", credits: 1, overage: undefined },
    { pool: POOL, period: "day", credits: null, overage: null },
  ],
};

test("a wallet with current or past overrides is read as it was written", () => {
  const assignment = {
    ...{ number: 1, plan: brandAs<PlanId>(3), version: brandAs<PlanVersionId>(4), anchor: instant(1) },
    ...{ endsAt: null, isDefault: false },
    allowances: [
      { pool: POOL, end: null, grant: 1, base: 5, own: null, overageUsed: 0, overageHeld: 0 },
      { pool: POOL, end: instant(7), grant: 2, base: 5, own: 0, overageUsed: 0, overageHeld: 0 },
      { pool: POOL, end: null, grant: 3, base: 5, own: null, overageUsed: 4, overageHeld: 0 },
      { pool: POOL, end: null, grant: 4, base: 5, own: 2, overageUsed: 0, overageHeld: 9 },
    ],
    counters: [{ feature: FEATURE, end: null, used: 1, fromSequence: 1, fromHold: 1 }],
  };
  const ownCounters: OwnCounter[] = [
    {
      feature: FEATURE,
      end: instant(7),
      used: 2,
      fromSequence: 1,
      fromHold: 1,
      period: "day",
      earlier: null,
    },
    {
      feature: FEATURE,
      end: null,
      used: 3,
      fromSequence: 9,
      fromHold: 1,
      period: "once",
      earlier: { assignment: 4, fromSequence: 5, fromHold: 1 },
    },
  ];
  for (const overrides of [OVERRIDES, null]) {
    for (const next of [null, NEXT]) {
      for (const planAsOf of [null, instant(3)]) {
        const parts = { overridesCount: 2, overrides, ownCounters, next, planAsOf, assignment };
        const wallet = { ...newWallet(instant(0)), ...parts };
        const state = encodeWalletState(wallet);
        expect(JSON.parse(state)[0]).toBe(3);
        expect(decodeWalletState(state, wallet)).toEqual(wallet);
      }
    }
  }
});

test("a wallet with rules for top-ups, or with earlier requests, is read as it was written", () => {
  const rule = { below: 50, credits: 200, monthlyMax: 2 };
  const open = { number: 7, requestedAt: instant(3), attempt: 2, askedAt: instant(4), credits: 200 };
  const topUps = { pool: POOL, month: instant(0), requests: 2, open: null };
  for (const alerts of [
    { pools: [{ pool: POOL, lowBalances: null, topUp: rule }], topUps: [{ ...topUps, open }], topUpCount: 7 },
    { pools: [{ pool: POOL, lowBalances: [9, 5], topUp: null }], topUps: [], topUpCount: 0 },
    { pools: [], topUps: [topUps], topUpCount: 7 },
  ])
    for (const holds of [{}, { holdCount: 1, holdChanges: 1, openHolds: 1, holdsUntil: 900 }]) {
      const wallet = { ...newWallet(instant(0)), alerts, ...holds };
      const state = encodeWalletState(wallet);
      expect(JSON.parse(state)[0]).toBe(5);
      expect(decodeWalletState(state, wallet)).toEqual(wallet);
      expect(holdsUntilIn(state)).toBe(wallet.holdsUntil);
    }
});

test.each(EVENTS)(
  "release 0.1.0 reads every event except an assignment as a cancellation: %s",
  (planEvent) => {
    const state = JSON.parse(encodeWalletState(walletWith(planEvent, null)));
    const [form, , , , , , planAsOf, isPlanCut] = state;
    expect([form, planAsOf, isPlanCut === 1]).toEqual([1, 1_000, planEvent !== "assign"]);
  },
);

test("the last plan event of a wallet from release 0.1.0 is read as a cancellation or an assignment", () => {
  const row = newWallet(instant(0));
  expect(decodeWalletState("[1,0,0,null,[],[],1000,1]", row)).toEqual(walletWith("cut", null));
  expect(decodeWalletState("[1,0,0,null,[],[],1000]", row)).toEqual(walletWith("assign", null));
});

const HOLD = { number: 1, openedAt: instant(0), memberId: null, onExpiry: "release" } as const;
const TERMS = { planVersion: brandAs<PlanVersionId>(4), assignment: 1, items: [] };
const holdUntil = (ms: number): Hold => ({ ...HOLD, ...TERMS, expiresAt: instant(ms) });

test.each([
  [
    "just before the earliest end, if all holds were read",
    { holds: [holdUntil(900), holdUntil(700)], openHolds: 2 },
    699,
  ],
  [
    "unchanged, if the holds that were read end later",
    { holds: [holdUntil(900)], openHolds: 3, holdsUntil: 400 },
    400,
  ],
  [
    "just before the end of a hold that was read, if that is earlier",
    { holds: [holdUntil(300)], openHolds: 3, holdsUntil: 400 },
    299,
  ],
  ["infinite, if no holds are open", { holds: [], openHolds: 0, holdsUntil: 400 }, Number.POSITIVE_INFINITY],
])("the stored `holdsUntil` is %s", (_, parts, holdsUntil) => {
  const held = { grant: 1, pool: POOL, kind: "manual", expiresAt: null, credits: 5, revoked: 0 } as const;
  for (const kept of [[], [held]]) {
    const wallet = { ...newWallet(instant(0)), holdCount: 5, holdChanges: 5, held: kept, ...parts };
    const state = encodeWalletState(wallet);
    expect(decodeWalletState(state, wallet)).toEqual({ ...wallet, holds: [], holdsUntil });
    expect(holdsUntilIn(state)).toBe(holdsUntil);
  }
});

test("a wallet without holds needs no read of holds, and a wallet with unread open holds must have `holdsUntil`", () => {
  const wallet = newWallet(instant(0));
  expect(holdsUntilIn(encodeWalletState(wallet))).toBe(Number.POSITIVE_INFINITY);
  const partly = { ...wallet, holdCount: 2, holds: [holdUntil(900)], openHolds: 2 };
  expect(() => encodeWalletState(partly)).toThrow("all open holds are known");
  const state = JSON.parse(encodeWalletState({ ...partly, holdsUntil: 400 }));
  expect(() => decodeWalletState(JSON.stringify(state.slice(0, -1)), wallet)).toThrow("has `holdsUntil`");
});
