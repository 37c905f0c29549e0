import { setTimeout as pause } from "node:timers/promises";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerName, compareCustomers, findCustomers } from "../../store/cell/customers.ts";
import {
  insertEmptyWallets,
  lockFreeWallets,
  lockWallets,
  type WalletName,
} from "../../store/cell/wallets.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../words/brand.ts";

/** Customers of one transaction: few enough that it ends in well under a tenth of a second, as charges of them wait for it. */
export const CHUNK_SIZE = 250;

/**
 * Whether to wait for wallets that somebody else holds. Not at first: a transaction that has made customers, and waits for
 * the wallet of another, can meet a lane that does it the other way round.
 */
export type Patience = "skip" | "wait";

const SKIPS_MAX = 5;
const SKIP_PAUSE_MS = 50;
const ATTEMPTS_MAX = 8;
const ATTEMPT_PAUSE_MS = 400;

export type Opened = {
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly wallets: ReadonlyMap<CustomerId, WalletName & { readonly wallet: Wallet }>;
  /** Known, but held by somebody else. */
  readonly held: ReadonlySet<CustomerId>;
  /** Erased while we were about to lock them: the id is free, and nothing may be written about who had it. */
  readonly gone: ReadonlySet<CustomerId>;
};

/** Locks many wallets. Catalog and clock are read after that, as for a consume. */
export async function openWallets(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly CustomerId[],
  patience: Patience,
): Promise<Opened> {
  const names = sortNames(environmentId, customers);
  // What is not in memory is read before anybody has to wait for us.
  await loadCatalog(tx, environmentId);
  const lock = patience === "wait" ? lockWallets : lockFreeWallets;
  let found = await lock(tx, names);
  const missing = found.filter(({ isMissing }) => isMissing);
  if (missing.length > 0) {
    await insertEmptyWallets(tx, missing);
    found = await lock(tx, names);
  }
  const numbers = new Map(
    (await findCustomers(tx, names)).map(({ customerId, number }) => [customerId, number]),
  );
  const wallets = new Map<CustomerId, WalletName & { wallet: Wallet }>();
  const held = new Set<CustomerId>();
  const gone = new Set<CustomerId>();
  for (const { customerId, customerNumber, readWallet } of found) {
    if (readWallet === null) held.add(customerId);
    else if (numbers.get(customerId) !== customerNumber) gone.add(customerId);
    else wallets.set(customerId, { environmentId, customerNumber, wallet: readWallet() });
  }
  const catalog = await loadCatalog(tx, environmentId);
  return { catalog, clock: await readClock(tx), wallets, held, gone };
}

/** In the order in which everybody inserts and locks customers. */
export function sortNames(environmentId: EnvironmentId, customers: readonly CustomerId[]): CustomerName[] {
  return customers.map((customerId) => ({ environmentId, customerId })).sort(compareCustomers);
}

/**
 * Calls `work` with what is still to be done until nothing is. What it hands back, because somebody held it, comes again a
 * little later, and in the end is waited for.
 */
export async function untilDone<T>(
  things: readonly T[],
  work: (rest: readonly T[], patience: Patience) => Promise<readonly T[]>,
): Promise<void> {
  let rest = things;
  for (let skips = 0; rest.length > 0; skips++) {
    if (skips > 0) await pause(SKIP_PAUSE_MS);
    rest = await work(rest, skips < SKIPS_MAX ? "skip" : "wait");
  }
}

/**
 * Again, when somebody else was first, two waited for each other, or the database was away for a moment. Safe even where
 * nobody knows how it went: what was done is found done.
 */
export async function rerunTroubled<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isTrouble = error instanceof OutcomeUnknown || findDatabaseTrouble(error) !== null;
      if (attempt === ATTEMPTS_MAX || !isTrouble) throw error;
      // Of two that waited for each other, one comes first now.
      await pause(attempt * ATTEMPT_PAUSE_MS * Math.random());
    }
  }
}
