import { dueAt } from "../entitlement/due-at.ts";
import { viewDue } from "../entitlement/view-wallet.ts";
import type { Pool } from "../postgres/pool.ts";
import { findDatabaseTrouble } from "../postgres/sql-error.ts";
import { single, transaction } from "../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../primitives/brand.ts";
import { clocksAgree } from "../primitives/clocks-agree.ts";
import { readClock } from "../store/cell/clock.ts";
import { DUE_LISTS, type Due, listDue, writeDuePlans } from "../store/cell/due-plans.ts";
import type { WalletName } from "../store/cell/wallets.ts";
import { changeIdleWallets } from "./change-idle-wallets.ts";

/** Maximum wallets in one transaction. */
const WALLETS_MAX = 200;
/** Maximum transactions for each list and run. The next run starts again. */
const PAGES_MAX = 50;

const START: Due = {
  dueAt: brandAs<Instant>(0),
  environmentId: brandAs<EnvironmentId>(0),
  customerNumber: brandAs<CustomerNumber>(0),
};

/**
 * Brings customers without requests up to date whose plan or hold has ended, whose pending plan has started, or whose request for a top-up
 * is repeated, so that webhooks learn of it. The next request would write the same. Pauses while the clocks of the database and the process
 * differ. Returns how many wallets changed.
 */
export async function catchUpIdle(cell: Pool, { walletsMax = WALLETS_MAX } = {}): Promise<number> {
  const until = await single(cell, readClock);
  if (!clocksAgree(until)) return 0;
  let changed = 0;
  const failures: unknown[] = [];
  for (const list of DUE_LISTS) {
    let after = START;
    for (let page = 0; page < PAGES_MAX; page++) {
      const due = await single(cell, (tx) => listDue(tx, list, { until, after, limit: walletsMax }));
      changed += await catchUpAll(cell, { due, until }, failures);
      const last = due.at(-1);
      if (last === undefined || due.length < walletsMax) break;
      after = last;
    }
  }
  if (failures.length > 0) throw failures[0];
  return changed;
}

type Page = { readonly due: readonly WalletName[]; readonly until: Instant };

/** If the database rejects one of the wallets, the others are still written. */
async function catchUpAll(cell: Pool, { due, until }: Page, failures: unknown[]): Promise<number> {
  const names = [...new Map(due.map((name) => [name.customerNumber, name])).values()];
  if (names.length === 0) return 0;
  try {
    return await catchUpSome(cell, names, until);
  } catch (error) {
    if (findDatabaseTrouble(error) !== null) throw error;
    if (names.length === 1) {
      failures.push(error);
      return 0;
    }
  }
  let changed = 0;
  for (const name of names) changed += await catchUpAll(cell, { due: [name], until }, failures);
  return changed;
}

function catchUpSome(cell: Pool, names: readonly WalletName[], until: Instant): Promise<number> {
  return transaction(cell, async (tx) => {
    const { unchanged, changed } = await changeIdleWallets(tx, names, viewDue);
    // These wallets were up to date already, or a top-up cannot be requested now. A process of an older release, which does not store when a
    // plan falls due, may also have left the row.
    if (unchanged.length > 0)
      await writeDuePlans(
        tx,
        unchanged.map(({ wallet, ...name }) => ({ ...name, dueAt: dueAt(wallet, until) })),
      );
    return changed;
  });
}
