import { expect, test } from "vitest";
import { newWallet, type PlanEvent, type Wallet } from "../../entitlement/wallet.ts";
import { brandAs, type Instant, type PlanId } from "../../primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "./wallet-state.ts";

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

test.each(EVENTS)("release 0.1.0 reads every event but an assignment as a cancellation: %s", (planEvent) => {
  const state = JSON.parse(encodeWalletState(walletWith(planEvent, null)));
  const [form, , , , , , planAsOf, isPlanCut] = state;
  expect([form, planAsOf, isPlanCut === 1]).toEqual([1, 1_000, planEvent !== "assign"]);
});

test("the last plan event of a wallet from release 0.1.0 is read as a cancellation or an assignment", () => {
  const row = newWallet(instant(0));
  expect(decodeWalletState("[1,0,0,null,[],[],1000,1]", row)).toEqual(walletWith("cut", null));
  expect(decodeWalletState("[1,0,0,null,[],[],1000]", row)).toEqual(walletWith("assign", null));
});
