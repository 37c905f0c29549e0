import { type OverageLine, type RolledLine, RollForward } from "../../entitlement/roll-forward.ts";
import { viewDue } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readSettledClock } from "../../store/cell/clock.ts";
import { findLastBefore } from "../../store/cell/ledger-balances.ts";
import { listMonthWallets, type MovedRun, type OwnedWallet, sumMoved } from "../../store/cell/months.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { refuseDetachedLedger } from "../refuse-detached-ledger.ts";

const WALLETS_MAX = 500;
/** Entries summed by one statement. This takes milliseconds, and well under a second from a cold disk. */
const ENTRIES_MAX = 5_000;

export type MonthRange = { readonly from: Instant; readonly to: Instant };

export type ClosedMonth = {
  /** End of the period: the month's end, or now. */
  readonly until: Instant;
  readonly completeTo: Instant;
  readonly lines: readonly (Omit<RolledLine, "pool"> & { readonly pool: string })[];
  readonly overage: readonly (Omit<OverageLine, "pool"> & { readonly pool: string })[];
};

/**
 * Computes the monthly statement over all customers. Wallets are read a few at a time, each with the number of its last entry, so
 * charges continue and no transaction is long. Null if the caller has disconnected, or the month has not started.
 */
export async function closeMonth(
  cell: Pool,
  environmentId: EnvironmentId,
  { from, to }: MonthRange,
  isWanted: () => boolean,
): Promise<ClosedMonth | null> {
  const asOf = await single(cell, readSettledClock);
  const until = brandAs<Instant>(Math.min(to, asOf));
  if (until <= from) return null;
  // The statement is computed backward from now. If a month in between were missing, its figures would be wrong.
  await single(cell, (tx) => refuseDetachedLedger(tx, from));
  const roll = new RollForward({ from, until });
  for (let after: number | null = 0; after !== null; ) {
    if (!isWanted()) return null;
    after = await addPage({ cell, environmentId, roll, from, until, asOf }, after);
  }
  // A month may have been detached in the meantime.
  await single(cell, (tx) => refuseDetachedLedger(tx, from));
  const names = new CatalogNames(await single(cell, (tx) => loadCatalog(tx, environmentId)));
  const lines = roll.lines().sort((a, b) => a.pool - b.pool || a.kind.localeCompare(b.kind));
  const overage = roll.overageLines().sort((a, b) => a.pool - b.pool);
  return {
    until,
    completeTo: roll.completeTo,
    lines: lines.map(({ pool, ...line }) => ({ pool: names.pool(pool), ...line })),
    overage: overage.map(({ pool, ...line }) => ({ pool: names.pool(pool), ...line })),
  };
}

type Walk = {
  readonly cell: Pool;
  readonly environmentId: EnvironmentId;
  readonly roll: RollForward;
  readonly from: Instant;
  readonly until: Instant;
  readonly asOf: Instant;
};

/** Adds a page of wallets. Returns the customer to continue after, or null if all are done. */
async function addPage(walk: Walk, after: number): Promise<number | null> {
  const { cell, environmentId, roll, asOf } = walk;
  const page = await single(cell, async (tx) => {
    const owned = await listMonthWallets(tx, environmentId, { after, limit: WALLETS_MAX });
    // Read after the wallets, so that every version they refer to exists.
    const catalog = await loadCatalog(tx, environmentId);
    return owned.map((one) => ({ ...one, due: viewDue(catalog, one.wallet, asOf) }));
  });
  for (const { wallet, due } of page) roll.addWallet(wallet, due);
  for await (const runs of runsOf(walk, page)) {
    const { moved, overage } = await single(cell, (tx) => sumMoved(tx, environmentId, runs, walk));
    for (const one of moved) roll.addMoved(one);
    for (const one of overage) roll.addOverage(one);
  }
  const last = page.at(-1);
  return last === undefined || page.length < WALLETS_MAX ? null : last.customerNumber;
}

/** Splits the entries since the start of the month into runs, one statement each. */
async function* runsOf(walk: Walk, page: readonly OwnedWallet[]): AsyncGenerator<readonly MovedRun[]> {
  let runs: MovedRun[] = [];
  let room = ENTRIES_MAX;
  for (const owned of page) {
    const { customerNumber, wallet } = owned;
    let after = await skipTo(walk, owned);
    while (after < wallet.sequence) {
      const until = Math.min(wallet.sequence, after + room);
      runs.push({ customerNumber, after, until });
      room -= until - after;
      after = until;
      if (room > 0) continue;
      yield runs;
      runs = [];
      room = ENTRIES_MAX;
    }
  }
  if (runs.length > 0) yield runs;
}

/**
 * Finds the last entry before the month, so that a long ledger is not read from its beginning. A wallet has no entries after its
 * last decision.
 */
async function skipTo({ cell, environmentId, from }: Walk, { customerNumber, wallet }: OwnedWallet) {
  const { sequence: last, decidedAt } = wallet;
  if (decidedAt < from) return last;
  if (last <= WALLETS_MAX) return 0;
  return single(cell, (tx) =>
    findLastBefore(tx, { environmentId, customerNumber }, { last, at: from, isWholeSince: true }),
  );
}
