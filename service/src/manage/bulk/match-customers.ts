import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, listCustomerRecords } from "../../store/cell/customer-list.ts";

/** Which customers are meant: all that stands here must hold. Null: whatever it is. */
export type BulkFilter = {
  readonly search: string | null;
  /** The key of the plan they have now. */
  readonly plan: string | null;
  readonly isBlocked: boolean | null;
};

/** The plan and the block follow from the wallet and from time, so that no index can find them: each is looked at. */
export const LOOKED_AT_MAX = 100_000;
const PAGE_SIZE = 1_000;

export type MatchedPage = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly records: readonly CustomerRecord[];
};

/**
 * What `look` finds in the customers that match, the newest first, a short statement at a time; it may look at a page twice.
 * Ends after so many were looked at, and returns the number to go on before; null when that was everybody.
 */
export async function* matchCustomers<T>(
  cell: Pool,
  environmentId: EnvironmentId,
  filter: BulkFilter,
  before: number | null,
  look: (page: MatchedPage) => T,
): AsyncGenerator<T, number | null> {
  const { search } = filter;
  let next = before;
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX; ) {
    const page = await single(cell, async (tx) => {
      const catalog = await loadCatalog(tx, environmentId);
      const clock = await readClock(tx);
      const slice = await listCustomerRecords(tx, environmentId, { search, before: next, limit: PAGE_SIZE });
      const records = slice.records.filter(({ wallet }) => isMeant(filter, wallet, catalog, clock));
      return { found: look({ catalog, clock, records }), next: slice.next };
    });
    yield page.found;
    if (page.next === null) return null;
    next = page.next;
    // A slice that finds little has looked through at least as much.
    lookedAt += PAGE_SIZE;
  }
  return next;
}

/** As far as a wallet can tell. */
export function isMeant(filter: BulkFilter, wallet: Wallet, catalog: Catalog, clock: Instant): boolean {
  if (filter.isBlocked !== null && wallet.isBlocked !== filter.isBlocked) return false;
  if (filter.plan === null) return true;
  const { assignment } = viewWallet(catalog, wallet, clock);
  return assignment !== null && catalog.plans.get(assignment.plan)?.key === filter.plan;
}
