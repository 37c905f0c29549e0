import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import type { Entry } from "../../../service/src/entitlement/entry.ts";
import { Fold, reversedConsumes } from "../../../service/src/entitlement/fold.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import type { Wallet } from "../../../service/src/entitlement/wallet.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanVersionId,
  type PoolId,
} from "../../../service/src/primitives/brand.ts";
import { parseOverage, parseParts } from "../../../service/src/store/cell/ledger.ts";
import { decodeWalletState } from "../../../service/src/store/cell/wallet-state.ts";
import { type HoldRow, readHoldRow, toHoldChange } from "./hold-rows.ts";
import type { Stored, StoredAssignment, StoredDenial, StoredEntry, StoredGrant } from "./stored.ts";
import type { Violation } from "./violation.ts";

/** All rows of one customer. */
export type Account = {
  /** The customer's number. */
  readonly customer: number;
  readonly customerId: string;
  readonly wallet: Wallet;
  /** The balance column of the wallet. */
  readonly balance: number;
  /** In order of sequence. */
  readonly entries: readonly StoredEntry[];
  /** In order of number. */
  readonly grants: readonly StoredGrant[];
  readonly denials: readonly StoredDenial[];
  /** All changes of holds, in order of number. */
  readonly holds: readonly HoldRow[];
  readonly assignments: readonly StoredAssignment[];
};

/** I4: every row belongs to a customer, and every customer has one readable wallet. */
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
    holdChanges: Map.groupBy(stored.holdChanges, ({ customer }) => customer),
  };
  const known = new Set(stored.customers.map(({ number }) => number));
  for (const [table, rows] of Object.entries(rowsOf)) {
    for (const number of rows.keys())
      if (!known.has(number))
        complain(`${table} has rows of customer number ${number}, which does not exist`);
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
      complain(`${customerId} has an unreadable wallet: ${state}`);
      continue;
    }
    const holds = (rowsOf.holdChanges.get(number) ?? []).flatMap((change): HoldRow[] => {
      const read = findReadable(() => readHoldRow(change));
      if (read === null) complain(`${customerId} has an unreadable hold ${change.hold}: ${change.state}`);
      return read === null ? [] : [read];
    });
    accounts.push({
      customer: number,
      customerId,
      wallet,
      balance,
      entries: (rowsOf.ledger.get(number) ?? []).toSorted((a, b) => a.sequence - b.sequence),
      grants: (rowsOf.grants.get(number) ?? []).toSorted((a, b) => a.number - b.number),
      denials: rowsOf.denials.get(number) ?? [],
      assignments: rowsOf.assignments.get(number) ?? [],
      holds: holds.toSorted((a, b) => a.number - b.number),
    });
  }
  return { accounts, violations };
}

/** I4: the wallet matches its ledger, recomputed with the code of `purser verify`. */
export function checkFold({ customerId, wallet, balance, ...rows }: Account, catalog: Catalog): Violation[] {
  const complain = (text: string): Violation[] => [{ invariant: "I4", text: `${customerId}: ${text}` }];
  const grants = rows.grants.map(({ number, mergedInto, pool, expiresAtMs, ...grant }) => ({
    ...grant,
    number,
    slot: mergedInto ?? number,
    pool: brandAs<PoolId>(pool),
    expiresAt: expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs),
  }));
  // The run sets no overrides.
  const fold = new Fold({
    wallet,
    balance,
    grants,
    overrides: [],
    holdChanges: rows.holds.map(toHoldChange),
    versions: catalog.versions,
  });
  const featureIds = new Map([...catalog.features].map(([key, { id }]): [string, FeatureId] => [key, id]));
  const entries: Entry[] = [];
  for (const row of rows.entries) {
    const entry = findReadable(() => toEntry(row, featureIds));
    if (entry === null)
      return complain(
        `${row.kind} ${row.sequence} is unreadable: ${row.parts} ${row.overage} ${row.overageParts}`,
      );
    const flaw = row.hold === null && row.uncovered !== 0 ? "leaves credits uncovered" : findFlaw(entry);
    if (flaw !== null) return complain(`${row.kind} ${row.sequence} ${flaw}`);
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

/** Finds entries that `purser verify` accepts although they repeat a grant in their parts, or move no credits. */
function findFlaw({ kind, amount, parts, usage }: Entry): string | null {
  for (const list of [parts, usage?.overage ?? []])
    if (new Set(list.map(({ grant }) => grant)).size < list.length) return "lists a grant twice in its parts";
  return amount === 0 && (kind === "expire" || kind === "revoke") ? "moves no credits" : null;
}

/** I4: no credits are spent after they expire, unless they were held before. No other check reads the expiry of an allowance's grant. */
export function checkExpiries({ customerId, entries, grants }: Account): Violation[] {
  const expiryOf = new Map(grants.map(({ number, expiresAtMs }) => [String(number), expiresAtMs]));
  return entries.flatMap((entry): Violation[] => {
    const spent =
      entry.kind === "consume" && entry.hold === null
        ? entry.parts.split(",").map((part) => part.split(":")[0] ?? "")
        : [];
    const expired = spent.find(
      (grant) => entry.recordedAtMs >= (expiryOf.get(grant) ?? Number.POSITIVE_INFINITY),
    );
    if (expired === undefined) return [];
    const text = `${nameOf(customerId, entry)} spends grant ${expired}, which had expired`;
    return [{ invariant: "I4", text }];
  });
}

/** Throws if the row is unreadable. */
function toEntry(row: StoredEntry, featureIds: ReadonlyMap<string, FeatureId>): Entry {
  const { sequence, kind, amount, balanceAfter, quantity, planVersion, assignment, reverses } = row;
  const { item, items, hold, uncovered } = row;
  const feature = featureIds.get(row.feature ?? "");
  const overage = parseOverage(row.overageParts);
  if (sumOf(overage) !== row.overage) throw new Error("the overage is not the sum of its parts");
  const place = item === null || items === null ? null : { index: item, of: items };
  return {
    ...{ sequence, kind, amount, balanceAfter },
    pool: brandAs<PoolId>(row.pool),
    effectiveAt: brandAs<Instant>(row.effectiveAtMs),
    parts: parseParts(row.parts),
    usage:
      feature === undefined || quantity === null || planVersion === null || assignment === null
        ? null
        : {
            feature,
            quantity,
            planVersion: brandAs<PlanVersionId>(planVersion),
            assignment,
            overrides: null,
            reverses,
            place,
            uncovered,
            overage,
          },
    hold,
  };
}

/** Null if `read` throws: unreadable data is reported like any other violation. */
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
