import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, listCustomerRecords, listRecordsById } from "../../store/cell/customer-list.ts";

/** A customer matches if all conditions are met. Null fields are ignored. */
export type BulkFilter = {
  /** Only these customers, at most CUSTOMER_IDS_MAX. */
  readonly customerIds: readonly CustomerId[] | null;
  readonly search: string | null;
  /** Key of the current plan. */
  readonly plan: string | null;
  readonly isBlocked: boolean | null;
};

/** Maximum number of customers checked per call. No index can find the current plan, because the plan depends on the time. */
export const CHECKED_MAX = 100_000;
const PAGE_SIZE = 1_000;
export const CUSTOMER_IDS_MAX = 5_000;

export type MatchedPage = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly records: readonly CustomerRecord[];
};

/**
 * Yields the result of `look` for each page of matching customers, newest first. `look` may be called twice for a page. Stops after
 * CHECKED_MAX customers. Returns the value of `before` for the next call, or null if all customers were checked.
 */
export async function* matchCustomers<T>(
  cell: Pool,
  environmentId: EnvironmentId,
  filter: BulkFilter,
  before: number | null,
  look: (page: MatchedPage) => T,
): AsyncGenerator<T, number | null> {
  let next = before;
  for (let checked = 0; checked < CHECKED_MAX; ) {
    const page = await single(cell, async (tx) => {
      const catalog = await loadCatalog(tx, environmentId);
      const clock = await readClock(tx);
      const slice = await readSlice(tx, environmentId, filter, next);
      const records = slice.records.filter(({ wallet }) => isMeant(filter, wallet, catalog, clock));
      return { found: look({ catalog, clock, records }), next: slice.next };
    });
    yield page.found;
    if (page.next === null) return null;
    next = page.next;
    // Every slice except the last scans at least PAGE_SIZE rows, even if it returns fewer records.
    checked += PAGE_SIZE;
  }
  return next;
}

async function readSlice(
  tx: Tx,
  environmentId: EnvironmentId,
  { customerIds, search }: BulkFilter,
  before: number | null,
): Promise<{ records: readonly CustomerRecord[]; next: number | null }> {
  if (customerIds !== null)
    return { records: await listRecordsById(tx, environmentId, customerIds), next: null };
  const after = before === null ? null : { key: before, number: before };
  const page = { environmentId, order: "newest", after, limit: PAGE_SIZE } as const;
  const { records, next } = await listCustomerRecords(tx, page, { search });
  return { records, next: next?.number ?? null };
}

/** Whether the customer matches the conditions that depend on the wallet. */
export function isMeant(filter: BulkFilter, wallet: Wallet, catalog: Catalog, clock: Instant): boolean {
  if (filter.isBlocked !== null && wallet.isBlocked !== filter.isBlocked) return false;
  if (filter.plan === null) return true;
  const { assignment } = viewWallet(catalog, wallet, clock);
  return assignment !== null && catalog.plans.get(assignment.plan)?.key === filter.plan;
}
