import { expect, test } from "vitest";
import type { Change, Entry, NewGrant } from "../../entitlement/entry.ts";
import { newWallet } from "../../entitlement/wallet.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { WalletChanges } from "./wallet-changes.ts";

const NAME = { environmentId: brandAs<EnvironmentId>(1), customerNumber: brandAs<CustomerNumber>(7) };
const NOW = brandAs<Instant>(1_800_000_000_000);
const POOL = brandAs<PoolId>(1);
const ORIGIN = { reference: "pi_1", price: null, note: null };

/** Grants numbered from `first` on, each with its entry. */
function grantChange(first: number, count: number): Change {
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  const last = first + count - 1;
  const entries = numbers.map((number): Entry => {
    const parts = [{ grant: number, amount: 10 }];
    return {
      sequence: number,
      kind: "grant",
      pool: POOL,
      amount: 10,
      balanceAfter: 10,
      effectiveAt: NOW,
      parts,
      usage: null,
      hold: null,
    };
  });
  const grants = numbers.map(
    (number): NewGrant => ({
      number,
      pool: POOL,
      kind: "manual",
      credits: 10,
      expiresAt: null,
      effectiveAt: NOW,
      mergedInto: null,
    }),
  );
  const wallet = { ...newWallet(NOW), sequence: last, grantCount: last };
  return { wallet, entries, grants, assignments: [], overrides: [], holds: [], notices: [], due: null };
}

test("two changes to one wallet become one wallet row with all entries and grants", () => {
  const changes = new WalletChanges();
  changes.add(NAME, grantChange(3, 2), { grant: { number: 4, origin: ORIGIN } });
  changes.add(NAME, grantChange(5, 1));
  expect([...changes.wallets.values()].map(({ wallet }) => wallet.sequence)).toEqual([5]);
  expect(changes.ledger.map(({ entry }) => entry.sequence)).toEqual([3, 4, 5]);
  expect(changes.grants.map(({ grant, origin }) => [grant.number, origin])).toEqual([
    [3, null],
    [4, ORIGIN],
    [5, null],
  ]);
});

test("a change without one of its entries or grants is rejected, and leaves no row", () => {
  const whole = grantChange(1, 3);
  const changes = new WalletChanges();
  for (const entries of [whole.entries.slice(1, 2), whole.entries.slice(0, 2)])
    expect(() => changes.add(NAME, { ...whole, entries })).toThrow("every entry");
  for (const grants of [whole.grants.slice(1, 2), whole.grants.slice(0, 2)])
    expect(() => changes.add(NAME, { ...whole, grants })).toThrow("every grant");
  expect([changes.wallets.size, changes.ledger.length, changes.grants.length]).toEqual([0, 0, 0]);
});

test("an out-of-sequence change is rejected", () => {
  const changes = new WalletChanges();
  changes.add(NAME, grantChange(1, 1));
  expect(() => changes.add(NAME, grantChange(3, 1))).toThrow("every entry");
});

test("a reference without its grant, or metadata without its entry, is rejected", () => {
  const annotation = { grant: { number: 9, origin: ORIGIN } };
  expect(() => new WalletChanges().add(NAME, grantChange(1, 1), annotation)).toThrow("every annotation");
  const entry = { kind: "consume" as const, keyHash: null, memberId: null, metadata: "{}" };
  expect(() => new WalletChanges().add(NAME, grantChange(1, 1), { entry })).toThrow("every annotation");
});
