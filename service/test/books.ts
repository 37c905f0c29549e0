import { expect } from "vitest";
import { brandAs, type Instant } from "../src/primitives/brand.ts";
import { parseParts } from "../src/store/cell/ledger.ts";
import { decodeWalletState } from "../src/store/cell/wallet-state.ts";
import type { TestDatabase } from "./harness.ts";

/** Credits by grant number and by pool. */
type Account = {
  sequence: number;
  readonly pools: Map<number, number>;
  readonly grants: Map<number, number>;
  /** Consumed quantities. Reversals are negative, and have the sequence of the charge that they reverse. */
  readonly uses: { sequence: number; feature: number; assignment: number; quantity: number }[];
};

/** Expects every wallet to match the sum of its ledger: sequence, balances, open grants and limit counters. */
export async function expectSoundBooks(database: TestDatabase): Promise<void> {
  const accounts = await foldLedger(database);
  const wallets = await database.query(
    "select customer_number::integer as number, sequence::integer, balance::float8, state from cell.wallets",
  );
  for (const { number, sequence, balance, state } of wallets) {
    const account = accounts.get(Number(number)) ?? newAccount();
    const row = { sequence: Number(sequence), decidedAt: brandAs<Instant>(0), isBlocked: false };
    const wallet = decodeWalletState(String(state), row);
    const left = [...account.grants].filter(([, credits]) => credits !== 0).sort(([a], [b]) => a - b);
    expect({ number, sequence, open: creditsOf(wallet) }).toEqual({
      number,
      sequence: account.sequence,
      open: left,
    });
    expect({ number, balance }).toEqual({ number, balance: sum([...account.pools.values()]) });
    // Open holds count too, but are not in the ledger.
    if (wallet.openHolds === 0) expectCounters(account, wallet);
  }
}

/** The credits of each grant, whether they can be spent or are held. */
function creditsOf({ grants, held }: ReturnType<typeof decodeWalletState>): [number, number][] {
  const credits = new Map(grants.map(({ number, remaining }) => [number, remaining]));
  for (const { grant, credits: set } of held) credits.set(grant, (credits.get(grant) ?? 0) + set);
  return [...credits].filter(([, left]) => left !== 0).sort(([a], [b]) => a - b);
}

function expectCounters(account: Account, wallet: ReturnType<typeof decodeWalletState>): void {
  const assignments = [wallet.assignment, ...wallet.paused.map(({ assignment }) => assignment)];
  for (const assignment of assignments) {
    for (const { feature, used, fromSequence } of assignment?.counters ?? []) {
      const counted = account.uses.filter(
        (use) =>
          use.feature === feature && use.assignment === assignment?.number && use.sequence >= fromSequence,
      );
      expect({ feature, used }).toEqual({ feature, used: sum(counted.map(({ quantity }) => quantity)) });
    }
  }
}

/**
 * Sums the ledger. Also expects sequences without gaps, parts that add up to the amount, and balances that follow from the previous
 * balance.
 */
async function foldLedger(database: TestDatabase): Promise<Map<number, Account>> {
  const accounts = new Map<number, Account>();
  const entries = await database.query(`
    select customer_number::integer as number, sequence::integer, amount::float8, balance_after::float8 as after,
      pool_id as pool, parts, feature_id as feature, quantity, assignment_number as assignment, kind,
      reverses::integer
    from cell.ledger
    order by customer_number, sequence`);
  for (const entry of entries) {
    const account = accounts.get(Number(entry["number"])) ?? newAccount();
    accounts.set(Number(entry["number"]), account);
    const amount = Number(entry["amount"]);
    const pool = Number(entry["pool"]);
    const parts = parseParts(String(entry["parts"]));
    account.sequence += 1;
    account.pools.set(pool, (account.pools.get(pool) ?? 0) + amount);
    for (const part of parts)
      account.grants.set(part.grant, (account.grants.get(part.grant) ?? 0) + part.amount);
    expect({ ...entry, amount: sum(parts.map((part) => part.amount)) }).toEqual({
      ...entry,
      sequence: account.sequence,
      after: account.pools.get(pool),
    });
    expect([...account.grants.values()].filter((left) => left < 0)).toEqual([]);
    if (entry["feature"] !== null) account.uses.push(readUse(entry));
  }
  return accounts;
}

/** A reversal is counted under the charge that it reverses. */
function readUse(entry: Record<string, unknown>): Account["uses"][number] {
  const isReversal = entry["reverses"] !== null;
  return {
    sequence: Number(isReversal ? entry["reverses"] : entry["sequence"]),
    feature: Number(entry["feature"]),
    assignment: Number(entry["assignment"]),
    quantity: isReversal ? -Number(entry["quantity"]) : Number(entry["quantity"]),
  };
}

function newAccount(): Account {
  return { sequence: 0, pools: new Map(), grants: new Map(), uses: [] };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
