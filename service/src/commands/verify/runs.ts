import type { Wallet } from "../../entitlement/wallet.ts";
import type { Run } from "../../store/cell/verify-ledger.ts";
import type { WalletRow } from "../../store/cell/verify-wallets.ts";

/** Ledger entries or grants per statement: well below a second even from a cold disk. */
const ROWS_MAX = 500;

export type ReadableRow = WalletRow & { readonly wallet: Wallet };

/** Groups wallets whose rows fit one statement; a larger wallet is alone. */
export function* batchesOf(page: readonly ReadableRow[]): Generator<readonly ReadableRow[]> {
  let batch: ReadableRow[] = [];
  let entries = 0;
  let grants = 0;
  for (const row of page) {
    const { sequence, grantCount } = row.wallet;
    if (batch.length > 0 && (entries + sequence > ROWS_MAX || grants + grantCount > ROWS_MAX)) {
      yield batch;
      batch = [];
      entries = 0;
      grants = 0;
    }
    batch.push(row);
    entries += sequence;
    grants += grantCount;
  }
  if (batch.length > 0) yield batch;
}

/** A run and the index of its wallet in the batch. */
export type IndexedRun = Run & { readonly index: number; readonly isWhole: boolean };

/** Splits the rows of a batch into runs of at most one statement. */
export function* runsOf(
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
