import { expireDue, mayHaveExpired } from "../entitlement/expire-due.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { readClock } from "../store/cell/clock.ts";
import { lockSweep, moveSweep } from "../store/cell/sweeps.ts";
import { listNextWallets, type SweptWallet } from "../store/cell/wallet-sweep.ts";
import { changeIdleWallets } from "./change-idle-wallets.ts";

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

async function expireWallets(
  tx: Tx,
  wallets: readonly SweptWallet[],
): Promise<{ readonly changed: number; readonly undecided: number }> {
  const before = await readClock(tx);
  const suspects = wallets.filter(({ wallet }) => mayHaveExpired(wallet, before));
  return changeIdleWallets(tx, suspects, expireDue);
}
