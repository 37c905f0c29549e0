import type { Change } from "../entitlement/entry.ts";
import { expireDue, mayHaveExpired } from "../entitlement/expire-due.ts";
import { MissingData } from "../postgres/missing-data.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { loadCatalogs } from "../store/cell/catalogs.ts";
import { readClock } from "../store/cell/clock.ts";
import { latestDecision, viewDueHolds } from "../store/cell/due-holds.ts";
import { lockSweep, moveSweep } from "../store/cell/sweeps.ts";
import { WalletChanges, writeChanges } from "../store/cell/wallet-changes.ts";
import { listNextWallets, lockSweptWallets, type SweptWallet } from "../store/cell/wallet-sweep.ts";

/** Maximum wallets per step. A step is one short transaction. */
const WALLETS_MAX = 500;
/** Pause between two sweeps. */
const REST_MS = 10 * 60_000;

/** How many wallets a step changed, and how many damaged wallets it skipped. */
export type Sweep = { readonly changed: number; readonly unreadable: number };

/**
 * Writes due expiries for wallets without requests, so that reports are current. Adds no credits. Each call takes one step of a
 * sweep over all wallets, in one process at a time.
 */
export function sweepExpiries(
  cell: Pool,
  { walletsMax = WALLETS_MAX, restMs = REST_MS } = {},
): Promise<Sweep> {
  return transaction(cell, async (tx) => {
    const sweep = await lockSweep(tx, "expiries");
    if (sweep === null) return { changed: 0, unreadable: 0 };
    const [environmentId = -1, customerNumber = 0] = sweep.position ?? [];
    const after = { environmentId, customerNumber };
    const { wallets, unreadable, last } = await listNextWallets(tx, after, walletsMax);
    const { changed, undecided } = await expireWallets(tx, wallets);
    await moveSweep(tx, "expiries", {
      position: last === null ? null : [last.environmentId, last.customerNumber],
      restMs: last === null ? restMs : 0,
    });
    return { changed, unreadable: unreadable + undecided };
  });
}

/** Skips locked wallets, because the transaction that holds the lock writes the due changes. */
async function expireWallets(
  tx: Tx,
  wallets: readonly SweptWallet[],
): Promise<{ changed: number; undecided: number }> {
  const before = await readClock(tx);
  const suspects = wallets.filter(({ wallet }) => mayHaveExpired(wallet, before));
  if (suspects.length === 0) return { changed: 0, undecided: 0 };
  const environments = [...new Set(suspects.map(({ environmentId }) => environmentId))];
  await loadCatalogs(tx, environments);
  const found = await lockSweptWallets(tx, suspects);
  // Reads the catalogs and clock after locking, as for a consume request, because the catalogs may have changed.
  const catalogs = await loadCatalogs(tx, environments);
  const clock = await readClock(tx);
  const decided = found.map(({ wallet }) => wallet);
  const until = latestDecision(decided, { clock, catalogs: [...catalogs.values()] });
  const locked = await viewDueHolds(tx, found, (wallet) => wallet, until);
  const changes = new WalletChanges();
  let undecided = 0;
  for (const { environmentId, customerNumber, wallet } of locked) {
    const catalog = catalogs.get(environmentId);
    let change: Change | null = null;
    try {
      if (catalog !== undefined) change = expireDue(catalog, wallet, clock);
    } catch (error) {
      if (error instanceof MissingData) throw error;
      // A damaged wallet, such as a wallet with an unknown plan, must not stop the sweep.
      undecided += 1;
    }
    if (change !== null) changes.add({ environmentId, customerNumber }, change);
  }
  for (const written of writeChanges(tx, changes, clock)) await written;
  return { changed: changes.wallets.size, undecided };
}
