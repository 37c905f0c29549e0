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

/** A customer's locked wallet, with everything that a decision needs. */
export type OpenWallet = WalletName & {
  readonly wallet: Wallet;
  readonly catalog: Catalog;
  readonly clock: Instant;
};

/** Locks a customer's wallet, and waits for the lock if necessary. Null if there is no such customer. */
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
 * Locks the wallet of a customer who may not exist yet. Reads before it inserts, because a conflicting insert uses up a customer number.
 */
export async function openOrCreateWallet(
  tx: Tx,
  { environmentId }: { readonly environmentId: EnvironmentId },
  customerId: CustomerId,
): Promise<OpenWallet & { readonly isNew: boolean }> {
  let isNew = false;
  // Another request may create the customer in the meantime, and an erasure may remove the customer again.
  for (let inserts = 0; ; inserts++) {
    const open = await openWallet(tx, { environmentId }, customerId);
    if (open !== null) return { ...open, isNew };
    assert(inserts < INSERTS_MAX, "a customer that was just created exists");
    isNew = (await insertMissingCustomers(tx, [{ environmentId, customerId }])).rowCount > 0;
  }
}

/**
 * Whether to wait for wallets that another transaction has locked. A transaction that has inserted customers must skip: a
 * lane may have locked the wallet and wait for that insert, which would be a deadlock.
 */
export type LockMode = "skip" | "wait";

export type OpenWallets = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly wallets: ReadonlyMap<CustomerId, WalletName & { readonly wallet: Wallet }>;
  /** Existing wallets that another transaction has locked. */
  readonly lockedElsewhere: ReadonlySet<CustomerId>;
};

/** Locks the wallets of these customers in order, then reads the catalog and clock, as for a consume request. */
export async function openWallets(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly CustomerId[],
  lockMode: LockMode,
): Promise<OpenWallets> {
  const names = sortNames(environmentId, customers);
  // Runs before locking, so that no lock is held while a missing catalog is loaded.
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
    // A customer erased before the lock was granted no longer exists, so nothing may be written under that number.
    else if (numbers.get(customerId) === customerNumber)
      wallets.set(customerId, { environmentId, customerNumber, wallet: readWallet() });
  }
  return { catalog, clock, wallets, lockedElsewhere };
}

/** Sorts customers in the order in which all transactions insert and lock them. */
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
 * Disables scans for the rest of this transaction, which looks up hundreds of single rows. This connection may have planned its
 * statements when the tables were empty; those plans would scan whole tables.
 */
export function lookUpByIndex(tx: Tx): Promise<Rows> {
  return tx.run(LOOK_UP_BY_INDEX);
}
