import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, listCustomerRecords } from "../../store/cell/customer-list.ts";

/** All conditions must hold. A null field is not a condition. */
export type BulkFilter = {
  readonly search: string | null;
  /** Key of the current plan. */
  readonly plan: string | null;
  readonly isBlocked: boolean | null;
};

/** Maximum number of customers checked per call. Plan and block depend on the wallet and the time, so no index can find them. */
export const LOOKED_AT_MAX = 100_000;
const PAGE_SIZE = 1_000;

export type MatchedPage = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly records: readonly CustomerRecord[];
};

/**
 * Yields the result of `look` for each page of matching customers, newest first. `look` may be called twice for a page. Stops
 * after LOOKED_AT_MAX customers and returns the customer number to continue before, or null if all customers were checked.
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
    // Every slice but the last scans at least PAGE_SIZE rows, even if it returns fewer records.
    lookedAt += PAGE_SIZE;
  }
  return next;
}

/** Whether the customer matches the conditions that depend on the wallet. */
export function isMeant(filter: BulkFilter, wallet: Wallet, catalog: Catalog, clock: Instant): boolean {
  if (filter.isBlocked !== null && wallet.isBlocked !== filter.isBlocked) return false;
  if (filter.plan === null) return true;
  const { assignment } = viewWallet(catalog, wallet, clock);
  return assignment !== null && catalog.plans.get(assignment.plan)?.key === filter.plan;
}
