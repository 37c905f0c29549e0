import type { Catalog } from "../../entitlement/catalog.ts";
import type { Entry } from "../../entitlement/entry.ts";
import { Fold, type ReversedConsume, reversedConsumes } from "../../entitlement/fold.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import {
  type ConsumePosition,
  listEntries,
  listGrants,
  listReversed,
} from "../../store/cell/verify-ledger.ts";
import type { Checked, Mismatch } from "./report.ts";
import { type IndexedRun, type ReadableRow, runsOf } from "./runs.ts";

export type Catalogs = ReadonlyMap<EnvironmentId, Catalog>;

/** Folds the ledgers of several wallets, or of one large wallet. */
export async function verifyBatch(
  tx: Tx,
  batch: readonly ReadableRow[],
  catalogs: Catalogs,
  checked: Checked,
): Promise<Mismatch | null> {
  const grants = await readGrants(tx, batch);
  const folds = batch.map(({ environmentId, wallet, balance }, index) => {
    const versions = catalogs.get(environmentId)?.versions ?? new Map();
    return new Fold({ wallet, balance, grants: grants[index] ?? [], versions });
  });
  for (const runs of runsOf(batch, ({ wallet }) => wallet.sequence)) {
    const ledgers = await listEntries(tx, runs);
    const reversed = await readReversed(tx, runs, ledgers);
    for (const [position, { index, after, until }] of runs.entries()) {
      const row = batch[index];
      const fold = folds[index];
      const entries = ledgers[position] ?? null;
      if (row === undefined || fold === undefined) continue;
      if (entries === null) return { ...row, text: `entries ${after + 1} to ${until} cannot all be read` };
      for (const entry of entries) {
        const text = fold.add(entry, reversed.get(entry));
        if (text !== null) return { ...row, text };
      }
      checked.entries += entries.length;
      // A damaged wallet may have any sequence: stop where the ledger ends.
      if (entries.length < until - after)
        return {
          ...row,
          text: `the wallet is at entry ${row.wallet.sequence}, its ledger at ${after + entries.length}`,
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

async function readGrants(tx: Tx, batch: readonly ReadableRow[]): Promise<GrantFacts[][]> {
  const grants: GrantFacts[][] = batch.map(() => []);
  for (const runs of runsOf(batch, ({ wallet }) => wallet.grantCount)) {
    const readAt = batch[0]?.readAt;
    if (readAt === undefined) break;
    const found = await listGrants(tx, runs, readAt);
    for (const [position, { index }] of runs.entries()) grants[index]?.push(...(found[position] ?? []));
    // The fold reports the missing grants.
    if (found.every((some) => some.length === 0)) break;
  }
  return grants;
}

/** The charges that the entries reverse: from the run if it has the whole ledger, otherwise from the database. */
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
