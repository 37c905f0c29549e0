import { viewDue } from "../entitlement/view-wallet.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { clocksAgree } from "../primitives/clocks-agree.ts";
import { readClock } from "../store/cell/clock.ts";
import { dropDuePlans, listDue } from "../store/cell/due-plans.ts";
import { changeIdleWallets } from "./change-idle-wallets.ts";

/** Maximum of due plans, and of due holds, in one transaction. */
const WALLETS_MAX = 200;
/** Maximum transactions per run. The next run continues. */
const TRANSACTIONS_MAX = 50;

/**
 * Brings customers without requests up to date whose plan or hold has ended, or whose pending plan has started, so that webhooks learn of it.
 * The next request would write the same. Pauses while the clocks of the database and the process differ. Returns how many wallets changed.
 */
export async function catchUpIdle(cell: Pool, { walletsMax = WALLETS_MAX } = {}): Promise<number> {
  let total = 0;
  for (let i = 0; i < TRANSACTIONS_MAX; i++) {
    const { found, changed } = await transaction(cell, (tx) => catchUpSome(tx, walletsMax));
    total += changed;
    if (found < walletsMax) break;
  }
  return total;
}

async function catchUpSome(tx: Tx, walletsMax: number): Promise<{ found: number; changed: number }> {
  const now = await readClock(tx);
  if (!clocksAgree(now)) return { found: 0, changed: 0 };
  const names = await listDue(tx, now, walletsMax);
  const { locked, changed } = await changeIdleWallets(tx, names, viewDue);
  // Every change has stored when the plan falls due next. What is left had changed already, or cannot be decided.
  if (locked.length > 0) await dropDuePlans(tx, locked, now);
  return { found: names.length, changed };
}
