import type { Catalog } from "../../../../service/src/entitlement/catalog.ts";
import type { Entry } from "../../../../service/src/entitlement/entry.ts";
import { Fold, reversedConsumes } from "../../../../service/src/entitlement/fold.ts";
import type { Wallet } from "../../../../service/src/entitlement/wallet.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanVersionId,
  type PoolId,
} from "../../../../service/src/primitives/brand.ts";
import { parseParts } from "../../../../service/src/store/cell/ledger.ts";
import { decodeWalletState } from "../../../../service/src/store/cell/wallet-state.ts";
import type { Stored, StoredAssignment, StoredDenial, StoredEntry, StoredGrant } from "../stored.ts";
import type { Violation } from "../violation.ts";

/** All rows of one customer, ready to be held against each other. */
export type Account = {
  readonly customerId: string;
  readonly wallet: Wallet;
  /** The column beside it. */
  readonly balance: number;
  /** By sequence. */
  readonly entries: readonly StoredEntry[];
  /** By number. */
  readonly grants: readonly StoredGrant[];
  readonly denials: readonly StoredDenial[];
  readonly assignments: readonly StoredAssignment[];
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
    assignments: Map.groupBy(stored.assignments, ({ customer }) => customer),
  };
  const known = new Set(stored.customers.map(({ number }) => number));
  for (const [table, rows] of Object.entries(rowsOf)) {
    for (const number of rows.keys())
      if (!known.has(number)) complain(`${table} has rows of customer number ${number}, who is not there`);
  }
  const accounts: Account[] = [];
  for (const { number, customerId } of stored.customers) {
    const [row, ...others] = rowsOf.wallets.get(number) ?? [];
    if (row === undefined || others.length > 0) {
      complain(`${customerId} has ${row === undefined ? "no wallet" : "two wallets"}`);
      continue;
    }
    const { sequence, decidedAtMs, balance, state } = row;
    const decidedAt = brandAs<Instant>(decidedAtMs);
    const wallet = findReadable(() => decodeWalletState(state, { sequence, decidedAt, isBlocked: false }));
    if (wallet === null) {
      complain(`${customerId} has a wallet that cannot be read: ${state}`);
      continue;
    }
    accounts.push({
      customerId,
      wallet,
      balance,
      entries: (rowsOf.ledger.get(number) ?? []).toSorted((a, b) => a.sequence - b.sequence),
      grants: (rowsOf.grants.get(number) ?? []).toSorted((a, b) => a.number - b.number),
      denials: rowsOf.denials.get(number) ?? [],
      assignments: rowsOf.assignments.get(number) ?? [],
    });
  }
  return { accounts, violations };
}

/** I4: the wallet is the fold of its ledger. By the fold of `purser verify`, which proves it on the tables themselves. */
export function checkFold({ customerId, wallet, balance, ...rows }: Account, catalog: Catalog): Violation[] {
  const complain = (text: string): Violation[] => [{ invariant: "I4", text: `${customerId}: ${text}` }];
  const grants = rows.grants.map(({ number, mergedInto, pool, expiresAtMs, ...grant }) => ({
    ...grant,
    number,
    slot: mergedInto ?? number,
    pool: brandAs<PoolId>(pool),
    expiresAt: expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs),
  }));
  const fold = new Fold({ wallet, balance, grants, versions: catalog.versions });
  const featureIds = new Map([...catalog.features].map(([key, { id }]): [string, FeatureId] => [key, id]));
  const entries: Entry[] = [];
  for (const row of rows.entries) {
    const entry = findReadable(() => toEntry(row, featureIds));
    if (entry === null) return complain(`${row.kind} ${row.sequence} cannot be read: ${row.parts}`);
    entries.push(entry);
  }
  const reversed = reversedConsumes(entries);
  for (const entry of entries) {
    const text = fold.add(entry, reversed.get(entry));
    if (text !== null) return complain(text);
  }
  const text = fold.finish();
  return text === null ? [] : complain(text);
}

/** I4: no credits are burned after their end. Held to the grants' rows, which neither verify nor the model asks for the end of an allowance. */
export function checkEnds({ customerId, entries, grants }: Account): Violation[] {
  const endOf = new Map(grants.map(({ number, expiresAtMs }) => [String(number), expiresAtMs]));
  return entries.flatMap((entry): Violation[] => {
    const burned =
      entry.kind === "consume" ? entry.parts.split(",").map((part) => part.split(":")[0] ?? "") : [];
    const ended = burned.find(
      (grant) => entry.recordedAtMs >= (endOf.get(grant) ?? Number.POSITIVE_INFINITY),
    );
    if (ended === undefined) return [];
    const text = `${nameOf(customerId, entry)} burns grant ${ended}, which ended before`;
    return [{ invariant: "I4", text }];
  });
}

function toEntry(row: StoredEntry, featureIds: ReadonlyMap<string, FeatureId>): Entry {
  const { sequence, kind, amount, balanceAfter, quantity, planVersion, assignment, reverses } = row;
  const feature = featureIds.get(row.feature ?? "");
  return {
    ...{ sequence, kind, amount, balanceAfter },
    pool: brandAs<PoolId>(row.pool),
    effectiveAt: brandAs<Instant>(row.effectiveAtMs),
    parts: parseParts(row.parts),
    usage:
      feature === undefined || quantity === null || planVersion === null || assignment === null
        ? null
        : { feature, quantity, planVersion: brandAs<PlanVersionId>(planVersion), assignment, reverses },
  };
}

/** What cannot be read is a finding like any other. */
function findReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

export function nameOf(customerId: string, { kind, sequence }: StoredEntry): string {
  return `${kind} ${sequence} of ${customerId}`;
}
