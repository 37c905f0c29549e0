import type { Catalog } from "../../entitlement/catalog.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "./catalogs.ts";
import { readClock } from "./clock.ts";
import { type CustomerName, compareCustomers, findCustomers, insertMissingCustomers } from "./customers.ts";
import { addDueHolds } from "./due-holds.ts";
import { insertEmptyWallets, lockFreeWallets, lockWallets, type WalletName } from "./wallets.ts";

/** A customer's locked wallet, with the other data that a decision needs. */
export type OpenWallet = WalletName & {
  readonly wallet: Wallet;
  readonly catalog: Catalog;
  readonly clock: Instant;
};

/** Locks a customer's wallet, and waits for the lock if necessary. Null if the customer does not exist. */
export async function openWallet(
  tx: Tx,
  { environmentId }: { readonly environmentId: EnvironmentId },
  customerId: CustomerId,
): Promise<OpenWallet | null> {
  const { wallets, lockedElsewhere, catalog, clock } = await openWallets(
    tx,
    environmentId,
    [customerId],
    "wait",
  );
  assert(lockedElsewhere.size === 0, "a wallet is locked after waiting for it");
  const open = wallets.get(customerId);
  return open === undefined ? null : { ...open, catalog, clock };
}

const INSERTS_MAX = 2;

/**
 * Locks a customer's wallet, and creates the customer if necessary. Tries to find the customer first, because a conflicting insert would
 * waste a customer number.
 */
export async function openOrCreateWallet(
  tx: Tx,
  { environmentId }: { readonly environmentId: EnvironmentId },
  customerId: CustomerId,
): Promise<OpenWallet & { readonly isNew: boolean }> {
  let isNew = false;
  // Between two statements, another request may create the customer, or an erasure may remove the customer.
  for (let inserts = 0; ; inserts++) {
    const open = await openWallet(tx, { environmentId }, customerId);
    if (open !== null) return { ...open, isNew };
    assert(inserts < INSERTS_MAX, "a customer that was just created exists");
    isNew = (await insertMissingCustomers(tx, [{ environmentId, customerId }])).rowCount > 0;
  }
}

/**
 * Whether to skip locked wallets or wait for them. A transaction that has inserted customers must skip them, to avoid a deadlock with a
 * lane that has locked such a wallet and waits for the insert.
 */
export type LockMode = "skip" | "wait";

export type OpenWallets = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly wallets: ReadonlyMap<CustomerId, WalletName & { readonly wallet: Wallet }>;
  /** Existing wallets that another transaction has locked. */
  readonly lockedElsewhere: ReadonlySet<CustomerId>;
};

/** Locks the wallets of these customers in sorted order. Then reads the catalog and the clock, as a consume request does. */
export async function openWallets(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly CustomerId[],
  lockMode: LockMode,
): Promise<OpenWallets> {
  const names = sortNames(environmentId, customers);
  // Fills the catalog cache before locking, so that no lock is held while a missing catalog is loaded.
  await loadCatalog(tx, environmentId);
  const lock = lockMode === "wait" ? lockWallets : lockFreeWallets;
  let found = await lock(tx, names);
  const missing = found.filter(({ isMissing }) => isMissing);
  if (missing.length > 0) {
    await insertEmptyWallets(tx, missing);
    found = await lock(tx, names);
  }
  const current = found.length === 0 ? [] : await findCustomers(tx, names);
  const numbers = new Map(current.map(({ customerId, number }) => [customerId, number]));
  const catalog = await loadCatalog(tx, environmentId);
  const clock = await readClock(tx);
  const wallets = new Map<CustomerId, WalletName & { wallet: Wallet }>();
  const lockedElsewhere = new Set<CustomerId>();
  const withHolds = await addDueHolds(tx, found, { clock, catalogs: [catalog] });
  for (const { customerId, customerNumber, readWallet } of withHolds) {
    if (readWallet === null) lockedElsewhere.add(customerId);
    // Skips customers who were erased before the lock was acquired. Nothing may be written under their numbers.
    else if (numbers.get(customerId) === customerNumber)
      wallets.set(customerId, { environmentId, customerNumber, wallet: readWallet() });
  }
  return { catalog, clock, wallets, lockedElsewhere };
}

/** Sorts customers into the order in which every transaction inserts and locks them. */
export function sortNames(environmentId: EnvironmentId, customers: readonly CustomerId[]): CustomerName[] {
  return customers.map((customerId) => ({ environmentId, customerId })).sort(compareCustomers);
}

const LOOK_UP_BY_INDEX = statement(
  "wallets.look_up_by_index",
  `
  select
    set_config('plan_cache_mode', 'force_custom_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`,
);

/**
 * Disables sequential scans for the rest of this transaction, which looks up hundreds of single rows. Query plans that this connection
 * made while the tables were empty would scan whole tables.
 */
export function lookUpByIndex(tx: Tx): Promise<Rows> {
  return tx.run(LOOK_UP_BY_INDEX);
}
