import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  type CustomerRecord,
  findCustomerRecord,
  findLow,
  listCustomerRecords,
  readCustomerRecords,
  type StoredBalance,
} from "../../store/cell/customer-list.ts";
import type { NumbersPage, Position } from "../../store/cell/customer-numbers.ts";
import { type Customer, describeCustomer } from "./describe-customer.ts";

export type CustomerFilter = {
  readonly search: string | null;
  /** Plan key. */
  readonly plan: string | null;
  readonly isBlocked: boolean | null;
  /** Only customers whose balance is below this value in at least one pool. */
  readonly balanceBelow: number | null;
};

export type CustomerPage = { readonly customers: readonly Customer[]; readonly next: Position | null };

/**
 * Maximum number of rows scanned for one page. Plans and balances change over time without a write, so they cannot be indexed. If
 * few rows match, the page is short but still has a cursor.
 */
const SCANNED_MAX = 1_000;

/** Lists customers in the order that `page` specifies. */
export function listCustomers(cell: Pool, filter: CustomerFilter, page: NumbersPage): Promise<CustomerPage> {
  const { environmentId } = page;
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const isScan = filter.plan !== null || filter.isBlocked !== null || filter.balanceBelow !== null;
    const limit = isScan ? SCANNED_MAX : page.limit;
    const wanted = { search: filter.search, onlyBlocked: filter.isBlocked === true };
    const slice = await listCustomerRecords(tx, { ...page, limit }, wanted);
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

/** Maximum number of customers compared to find the lowest balances. */
const CANDIDATES_MAX = 5_000;
/** Number of wallets read per query. */
const CHUNK = 500;

/** Lists the customers with the lowest balances below `balanceBelow`. */
export function listLowest(
  cell: Pool,
  environmentId: EnvironmentId,
  filter: LowFilter,
  limit: number,
): Promise<readonly Customer[]> {
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const records = await findLowest(tx, { environmentId, catalog, clock }, filter, limit);
    return records.map((record) => describeCustomer(record, catalog, clock));
  });
}

export type LowFilter = CustomerFilter & { readonly balanceBelow: number };

type Present = { readonly environmentId: EnvironmentId; readonly catalog: Catalog; readonly clock: Instant };

/**
 * Finds the customers with the lowest current balances, lowest first. Selects customers by stored balance, then computes their current
 * balances, because credits may have renewed or expired. Stops when enough customers are found and no remaining stored balance is lower.
 */
export async function findLowest(
  tx: Tx,
  { environmentId, catalog, clock }: Present,
  filter: LowFilter,
  limit: number,
): Promise<readonly CustomerRecord[]> {
  const isOnePool = catalog.pools.size === 1;
  const low = isOnePool
    ? await findLow(tx, environmentId, { below: filter.balanceBelow, limit: CANDIDATES_MAX })
    : await findLowInSomePool(tx, environmentId);
  let found: { readonly record: CustomerRecord; readonly lowest: number }[] = [];
  for (let start = 0; start < low.length; start += CHUNK) {
    const worst = found.length < limit ? null : found.at(-1);
    if (isOnePool && worst && (low[start]?.stored ?? 0) >= worst.lowest) break;
    const numbers = low.slice(start, start + CHUNK).map(({ customerNumber }) => customerNumber);
    const records = await readCustomerRecords(tx, environmentId, numbers);
    const matching = records
      .filter((record) => matches(record, catalog, clock, filter))
      .map((record) => ({ record, lowest: lowestBalance(record, catalog, clock) }));
    found = [...found, ...matching].sort((a, b) => a.lowest - b.lowest).slice(0, limit);
  }
  return found.map(({ record }) => record);
}

/**
 * The stored balance is the total of all pools. A low total means a low balance in every pool, but with several pools, a customer with a high
 * total may have used up one of them. Most of these customers have been active recently.
 */
async function findLowInSomePool(tx: Tx, environmentId: EnvironmentId): Promise<StoredBalance[]> {
  const lowest = await findLow(tx, environmentId, { below: Number.MAX_SAFE_INTEGER, limit: SCANNED_MAX });
  const active = await findLow(tx, environmentId, { below: null, limit: SCANNED_MAX });
  const found = new Map([...active, ...lowest].map((each) => [each.customerNumber, each]));
  return [...found.values()];
}

function lowestBalance({ wallet }: CustomerRecord, catalog: Catalog, clock: Instant): number {
  const view = viewWallet(catalog, wallet, clock);
  return Math.min(...catalog.pools.values().map(({ id }) => balanceOf(view, id)));
}

/** Checks whether the customer matches after due changes are applied to the wallet. */
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
