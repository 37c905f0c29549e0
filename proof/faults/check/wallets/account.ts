import type { Stored, StoredDenial, StoredEntry, StoredGrant, StoredWallet } from "../stored.ts";
import type { Violation } from "../violation.ts";
import { findParts, type Part } from "./parts.ts";
import { findWalletState, type WalletState } from "./wallet-state.ts";

export type Entry = StoredEntry & { readonly parsedParts: readonly Part[] };

/** All rows of one customer, ready to be held against each other. */
export type Account = {
  readonly customer: number;
  readonly customerId: string;
  readonly wallet: StoredWallet;
  readonly state: WalletState;
  /** By sequence. */
  readonly entries: readonly Entry[];
  readonly grants: readonly StoredGrant[];
  readonly denials: readonly StoredDenial[];
};

/** I4 begins here: every row belongs to a customer, and every customer has one wallet that can be read. */
export function openAccounts(stored: Stored): {
  accounts: readonly Account[];
  violations: readonly Violation[];
} {
  const violations: Violation[] = [];
  const complain = (text: string): void => {
    violations.push({ invariant: "I4", text });
  };
  const rowsOf = {
    wallets: Map.groupBy(stored.wallets, ({ customer }) => customer),
    ledger: Map.groupBy(stored.ledger, ({ customer }) => customer),
    grants: Map.groupBy(stored.grants, ({ customer }) => customer),
    denials: Map.groupBy(stored.denials, ({ customer }) => customer),
  };
  const known = new Set(stored.customers.map(({ number }) => number));
  for (const [table, rows] of Object.entries(rowsOf)) {
    for (const number of rows.keys())
      if (!known.has(number)) complain(`${table} has rows of customer number ${number}, who is not there`);
  }
  const accounts: Account[] = [];
  for (const { number, customerId } of stored.customers) {
    const [wallet, ...others] = rowsOf.wallets.get(number) ?? [];
    if (wallet === undefined || others.length > 0) {
      complain(`${customerId} has ${wallet === undefined ? "no wallet" : "two wallets"}`);
      continue;
    }
    const state = findWalletState(wallet.state);
    if (state === null) {
      complain(`${customerId} has a wallet that cannot be read: ${wallet.state}`);
      continue;
    }
    const entries = (rowsOf.ledger.get(number) ?? []).toSorted((a, b) => a.sequence - b.sequence);
    accounts.push({
      customer: number,
      customerId,
      wallet,
      state,
      entries: entries.map((entry) => {
        const parsedParts = findParts(entry.parts);
        if (parsedParts === null)
          complain(`${nameOf(customerId, entry)} has unreadable parts: ${entry.parts}`);
        return { ...entry, parsedParts: parsedParts ?? [] };
      }),
      grants: rowsOf.grants.get(number) ?? [],
      denials: rowsOf.denials.get(number) ?? [],
    });
  }
  return { accounts, violations };
}

export function nameOf(customerId: string, { kind, sequence }: StoredEntry): string {
  return `${kind} ${sequence} of ${customerId}`;
}
