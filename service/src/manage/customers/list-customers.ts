import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  type CustomerRecord,
  findCustomerRecord,
  listCustomerRecords,
  listLowRecords,
} from "../../store/cell/customer-list.ts";
import type { NumbersPage, Position } from "../../store/cell/customer-numbers.ts";
import { type Customer, describeCustomer } from "./describe-customer.ts";

export type CustomerFilter = {
  readonly search: string | null;
  /** The key of the plan. */
  readonly plan: string | null;
  readonly isBlocked: boolean | null;
  /** Applies to any pool. */
  readonly balanceBelow: number | null;
};

export type CustomerPage = { readonly customers: readonly Customer[]; readonly next: Position | null };

/**
 * Rows scanned for one page. Plan and balance depend on the time, so no index can hold them. A page with few matches in this many
 * rows is returned short, with a cursor.
 */
const SCANNED_MAX = 1_000;

/** Lists customers in the page's order. */
export function listCustomers(cell: Pool, filter: CustomerFilter, page: NumbersPage): Promise<CustomerPage> {
  const { environmentId } = page;
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const isScan = filter.plan !== null || filter.isBlocked !== null || filter.balanceBelow !== null;
    const limit = isScan ? SCANNED_MAX : page.limit;
    const slice = await listCustomerRecords(tx, { ...page, limit }, filter.search);
    const customers: Customer[] = [];
    for (const record of slice.records) {
      if (!matches(record, catalog, clock, filter)) continue;
      customers.push(describeCustomer(record, catalog, clock));
      const isRest = customers.length === page.limit && record !== slice.records.at(-1);
      if (isRest) return { customers, next: slice.positionOf(record) };
    }
    return { customers, next: slice.next };
  });
}

/**
 * Lists the customers with the lowest balances below `balanceBelow`. The stored balance selects up to `SCANNED_MAX` customers, most
 * recently active first. Their balances are then computed for the present, because credits may have renewed or expired.
 */
export function listLowest(
  cell: Pool,
  environmentId: EnvironmentId,
  filter: CustomerFilter & { readonly balanceBelow: number },
  limit: number,
): Promise<readonly Customer[]> {
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    // The stored balance is the sum of all pools, so it selects nothing if there are several.
    const below = catalog.pools.size > 1 ? null : filter.balanceBelow;
    const records = await listLowRecords(tx, environmentId, { below, limit: SCANNED_MAX });
    return records
      .filter((record) => matches(record, catalog, clock, filter))
      .map((record) => ({ record, lowest: lowestBalance(record, catalog, clock) }))
      .sort((a, b) => a.lowest - b.lowest)
      .slice(0, limit)
      .map(({ record }) => describeCustomer(record, catalog, clock));
  });
}

function lowestBalance({ wallet }: CustomerRecord, catalog: Catalog, clock: Instant): number {
  const view = viewWallet(catalog, wallet, clock);
  return Math.min(...catalog.pools.values().map(({ id }) => balanceOf(view, id)));
}

/** Whether the customer matches, with due changes applied to the wallet. */
function matches(
  { wallet }: CustomerRecord,
  catalog: Catalog,
  clock: Instant,
  { plan, isBlocked, balanceBelow }: CustomerFilter,
): boolean {
  if (isBlocked !== null && wallet.isBlocked !== isBlocked) return false;
  if (plan === null && balanceBelow === null) return true;
  const view = viewWallet(catalog, wallet, clock);
  if (plan !== null && (view.assignment === null || catalog.plans.get(view.assignment.plan)?.key !== plan))
    return false;
  return balanceBelow === null || catalog.pools.values().some(({ id }) => balanceOf(view, id) < balanceBelow);
}

export function readCustomer(
  cell: Pool,
  environmentId: EnvironmentId,
  customerId: CustomerId,
): Promise<Customer | null> {
  return single(cell, async (tx) => {
    const record = await findCustomerRecord(tx, { environmentId, customerId });
    if (record === null) return null;
    return describeCustomer(record, await loadCatalog(tx, environmentId), await readClock(tx));
  });
}
