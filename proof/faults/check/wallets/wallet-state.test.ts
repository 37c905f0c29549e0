import { expect, test } from "vitest";
import type { Wallet } from "../../../../service/src/entitlement/wallet.ts";
import { encodeWalletState } from "../../../../service/src/store/cell/wallet-state.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../../../service/src/words/brand.ts";
import { findWalletState } from "./wallet-state.ts";

const at = (ms: number): Instant => brandAs<Instant>(ms);
const pool = brandAs<PoolId>(7);

const held = (number: number): NonNullable<Wallet["assignment"]> => ({
  number,
  plan: brandAs<PlanId>(10 * number),
  version: brandAs<PlanVersionId>(100 * number),
  anchor: at(1),
  endsAt: null,
  isDefault: false,
  allowances: [{ pool, end: at(9), grant: 1, base: 50 }],
  counters: [{ feature: brandAs<FeatureId>(3), end: null, used: 4, fromSequence: 5 }],
});

test("a wallet as the service writes it can be read", () => {
  const wallet: Wallet = {
    ...{ sequence: 12, decidedAt: at(5), isBlocked: false, grantCount: 2, assignmentCount: 2 },
    assignment: held(2),
    grants: [
      { number: 1, pool, kind: "allowance", remaining: 30, expiresAt: at(9) },
      { number: 2, pool, kind: "purchase", remaining: 40, expiresAt: null },
    ],
    paused: [{ assignment: held(1), leftAt: at(4), grants: [] }],
    planAsOf: at(3),
    isPlanCut: true,
  };
  const counters = [{ feature: 3, used: 4, fromSequence: 5 }];
  expect(findWalletState(encodeWalletState(wallet))).toEqual({
    grantCount: 2,
    grants: [
      { number: 1, pool: 7, remaining: 30, expiresAtMs: 9 },
      { number: 2, pool: 7, remaining: 40, expiresAtMs: null },
    ],
    assignment: { number: 2, plan: 20, counters },
    paused: [{ number: 1, plan: 10, counters }],
  });
});

test.each(["", "{}", "[]", "[2,0,0,null,[],[]]", "[1,0,0,null,[[1,7,2,0.5,null]],[]]", "[1,0,0,[],[],[]]"])(
  "%j is no wallet",
  (text) => {
    expect(findWalletState(text)).toBeNull();
  },
);
