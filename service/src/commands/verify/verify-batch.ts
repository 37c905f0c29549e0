import type { Catalog } from "../../entitlement/catalog.ts";
import type { Entry } from "../../entitlement/entry.ts";
import { Fold, type ReversedConsume, reversedConsumes } from "../../entitlement/fold.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { listHoldChangesOfRuns } from "../../store/cell/holds.ts";
import { listOverridesOfRuns } from "../../store/cell/overrides.ts";
import {
  type ConsumePosition,
  listEntries,
  listGrants,
  listReversed,
  type Run,
} from "../../store/cell/verify-ledger.ts";
import type { WalletRow } from "../../store/cell/verify-wallets.ts";
import type { Checked, Mismatch } from "./report.ts";

export type Catalogs = ReadonlyMap<EnvironmentId, Catalog>;

/** Recomputes the wallets of a batch from their ledgers and compares them. */
export async function verifyBatch(
  tx: Tx,
  batch: readonly ReadableRow[],
  catalogs: Catalogs,
  checked: Checked,
): Promise<Mismatch | null> {
  const grants = await readNumbered(
    batch,
    ({ wallet }) => wallet.grantCount,
    (runs, { readAt }) => listGrants(tx, runs, readAt),
  );
  const overrides = await readNumbered(
    batch,
    ({ wallet }) => wallet.overridesCount,
    (runs) => listOverridesOfRuns(tx, runs),
  );
  const holdChanges = await readNumbered(
    batch,
    ({ wallet }) => wallet.holdChanges,
    (runs) => listHoldChangesOfRuns(tx, runs),
  );
  const folds = batch.map(({ environmentId, wallet, balance }, index) => {
    const versions = catalogs.get(environmentId)?.versions ?? new Map();
    const rows = {
      grants: grants[index] ?? [],
      overrides: overrides[index] ?? [],
      holdChanges: holdChanges[index] ?? [],
    };
    return new Fold({ wallet, balance, ...rows, versions });
  });
  for (const runs of runsOf(batch, ({ wallet }) => wallet.sequence)) {
    const ledgers = await listEntries(tx, runs);
    const reversed = await readReversed(tx, runs, ledgers);
    for (const [position, { index, after, until }] of runs.entries()) {
      const row = batch[index];
      const fold = folds[index];
      const entries = ledgers[position] ?? null;
      if (row === undefined || fold === undefined) continue;
      if (entries === null)
        return { ...row, text: `some of the entries ${after + 1} to ${until} cannot be read` };
      for (const entry of entries) {
        const text = fold.add(entry, reversed.get(entry));
        if (text !== null) return { ...row, text };
      }
      checked.entries += entries.length;
      // A damaged wallet may have any sequence, so the reads stop at the end of the ledger.
      const last = after + entries.length;
      if (last < until)
        return {
          ...row,
          text: `the wallet is at entry ${row.wallet.sequence}, but its ledger ends at entry ${last}`,
        };
    }
    checked.reversals += reversed.size;
  }
  for (const [index, row] of batch.entries()) {
    const text = folds[index]?.finish() ?? null;
    if (text !== null) return { ...row, text };
    checked.wallets += 1;
    checked.grants += row.wallet.grantCount;
  }
  return null;
}

/** Reads the numbered rows of each wallet. Many rows need several statements. */
async function readNumbered<T>(
  batch: readonly ReadableRow[],
  countOf: (row: ReadableRow) => number,
  list: (runs: readonly IndexedRun[], first: ReadableRow) => Promise<readonly (readonly T[])[]>,
): Promise<T[][]> {
  const rows: T[][] = batch.map(() => []);
  const [first] = batch;
  if (first === undefined) return rows;
  for (const runs of runsOf(batch, countOf)) {
    const found = await list(runs, first);
    for (const [position, { index }] of runs.entries()) rows[index]?.push(...(found[position] ?? []));
    // `Fold` reports the missing rows.
    if (found.every((some) => some.length === 0)) break;
  }
  return rows;
}

/** Finds the charges that the entries reverse. Reads the database only if the run does not contain the whole ledger. */
async function readReversed(
  tx: Tx,
  runs: readonly IndexedRun[],
  ledgers: readonly (readonly Entry[] | null)[],
): Promise<Map<Entry, ReversedConsume | null>> {
  const reversed = new Map<Entry, ReversedConsume | null>();
  const reversals: Entry[] = [];
  const positions: ConsumePosition[] = [];
  for (const [position, { customerNumber, isWhole }] of runs.entries()) {
    const entries = ledgers[position] ?? [];
    if (isWhole) {
      for (const [entry, consume] of reversedConsumes(entries)) reversed.set(entry, consume);
      continue;
    }
    for (const entry of entries) {
      const sequence = entry.usage?.reverses ?? null;
      if (sequence === null) continue;
      reversals.push(entry);
      positions.push({ customerNumber, sequence });
    }
  }
  if (positions.length === 0) return reversed;
  const found = await listReversed(tx, positions);
  for (const [index, entry] of reversals.entries()) reversed.set(entry, found[index] ?? null);
  return reversed;
}

/** Maximum rows per statement, which takes well below a second even without cached data. */
const ROWS_MAX = 500;

export type ReadableRow = WalletRow & { readonly wallet: Wallet };

/** Groups wallets whose rows fit in one statement. A larger wallet gets a separate batch. */
export function* batchesOf(page: readonly ReadableRow[]): Generator<readonly ReadableRow[]> {
  let batch: ReadableRow[] = [];
  let entries = 0;
  let others = 0;
  for (const row of page) {
    const { sequence, grantCount, overridesCount, holdChanges } = row.wallet;
    const more = grantCount + overridesCount + holdChanges;
    if (batch.length > 0 && (entries + sequence > ROWS_MAX || others + more > ROWS_MAX)) {
      yield batch;
      batch = [];
      entries = 0;
      others = 0;
    }
    batch.push(row);
    entries += sequence;
    others += more;
  }
  if (batch.length > 0) yield batch;
}

/** A run and the index of its wallet in the batch. */
type IndexedRun = Run & { readonly index: number; readonly isWhole: boolean };

/** Splits the rows of a batch into runs that fit in one statement. */
function* runsOf(
  batch: readonly ReadableRow[],
  countOf: (row: ReadableRow) => number,
): Generator<readonly IndexedRun[]> {
  let runs: IndexedRun[] = [];
  let room = ROWS_MAX;
  for (const [index, row] of batch.entries()) {
    const count = countOf(row);
    const { environmentId, customerNumber } = row;
    for (let after = 0; after < count; ) {
      const until = Math.min(count, after + room);
      const isWhole = after === 0 && until === count;
      runs.push({ index, environmentId, customerNumber, after, until, isWhole });
      room -= until - after;
      after = until;
      if (room > 0) continue;
      yield runs;
      runs = [];
      room = ROWS_MAX;
    }
  }
  if (runs.length > 0) yield runs;
}
