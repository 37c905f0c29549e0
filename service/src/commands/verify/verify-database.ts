import { MissingData } from "../../postgres/missing-data.ts";
import type { Tx } from "../../postgres/statement.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalogs } from "../../store/cell/catalogs.ts";
import { findCustomerId } from "../../store/cell/customers.ts";
import { findWholeLedgerSince } from "../../store/cell/usage/attached-months.ts";
import {
  BEFORE_ALL,
  listOwners,
  listWallets,
  SCANNED_TABLES,
  type ScannedTable,
  type WalletRow,
} from "../../store/cell/verify-wallets.ts";
import { openVerification } from "../connect.ts";
import type { Checked, Mismatch, Report } from "./report.ts";
import { Unhurried } from "./unhurried.ts";
import { batchesOf, type Catalogs, type ReadableRow, verifyBatch } from "./verify-batch.ts";

/** Verifies all wallets, up to the first mismatch. Reports progress after each page. */
export async function verifyDatabase(
  databaseUrl: string,
  onProgress: (checked: Checked) => void = () => {},
): Promise<Report> {
  const session = await openVerification({ url: databaseUrl });
  try {
    const tx = new Unhurried(session);
    await refuseDetached(tx);
    const checked: Checked = { customers: 0, wallets: 0, entries: 0, grants: 0, reversals: 0 };
    const mismatch = (await verifyWallets(tx, checked, onProgress)) ?? (await findOrphan(tx, checked));
    // A month that was detached during verification also causes mismatches, so this is checked again.
    if (mismatch !== null) await refuseDetached(tx);
    return { checked, mismatch, statementMsMax: tx.statementMsMax };
  } finally {
    session.destroy();
  }
}

/** Throws if months of the ledger are detached, because a wallet cannot be recomputed from a part of its ledger. */
async function refuseDetached(tx: Tx): Promise<void> {
  const since = await findWholeLedgerSince(tx);
  if (since !== null)
    throw new Error(
      `ledger months before ${formatTimestamp(since)} are detached; attach them first to verify wallets`,
    );
}

const ROWS_MAX = 5_000;

/** Finds a customer, ledger entry, grant, override or hold without a wallet. */
async function findOrphan(tx: Tx, checked: Checked): Promise<Mismatch | null> {
  for (const table of SCANNED_TABLES) {
    let page = await listOwners(tx, table, BEFORE_ALL, ROWS_MAX);
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      const orphan = page.find(({ hasWallet }) => !hasWallet);
      if (orphan !== undefined)
        return { ...orphan, customerId: await findCustomerId(tx, orphan), text: TEXT[table] };
      if (table === "customers") checked.customers += page.length;
      page = await listOwners(tx, table, last, ROWS_MAX);
    }
  }
  return null;
}

const TEXT = {
  customers: "the customer has no wallet",
  ledger: "there are ledger entries without a wallet",
  grants: "there are grants without a wallet",
  overrides: "there are overrides without a wallet",
  holds: "there are holds without a wallet",
} as const satisfies Record<ScannedTable, string>;

const WALLETS_MAX = 500;
/** Maximum plan versions to load for a batch. No valid batch needs this many. */
const FETCHES_MAX = 2_000;

/**
 * Compares every wallet with its ledger while the service writes both. A wallet contains the number of its last entry. Entries up
 * to that number never change, so they can be read later in several statements.
 */
async function verifyWallets(
  tx: Tx,
  checked: Checked,
  onPage: (checked: Checked) => void,
): Promise<Mismatch | null> {
  let page = await listWallets(tx, BEFORE_ALL, WALLETS_MAX);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    // Read after the wallets, so that every plan version they refer to exists. Limited to this page's environments, to save memory.
    const catalogs = await loadCatalogs(tx, [...new Set(page.map(({ environmentId }) => environmentId))]);
    const readable: ReadableRow[] = [];
    for (const row of page) {
      const { wallet } = row;
      const flaw = findFlaw(row);
      if (wallet === null || flaw !== null) return { ...row, text: flaw ?? "the wallet cannot be decoded" };
      readable.push({ ...row, wallet });
    }
    for (const batch of batchesOf(readable)) {
      const mismatch = await verifyWithFetches(tx, batch, catalogs, checked);
      if (mismatch !== null) return mismatch;
    }
    onPage(checked);
    page = await listWallets(tx, last, WALLETS_MAX);
  }
  return null;
}

/** Verifies a batch. If a plan version is not in memory, loads it and starts the batch again. */
async function verifyWithFetches(
  tx: Tx,
  batch: readonly ReadableRow[],
  catalogs: Catalogs,
  checked: Checked,
): Promise<Mismatch | null> {
  for (let fetches = 0; ; fetches++) {
    const before = { ...checked };
    try {
      return await verifyBatch(tx, batch, catalogs, checked);
    } catch (error) {
      if (!(error instanceof MissingData) || fetches === FETCHES_MAX) throw error;
      Object.assign(checked, before);
      await error.fetch(tx);
    }
  }
}

/** Checks that need only the wallet's row. */
function findFlaw(row: WalletRow): string | null {
  const { customerId, wallet, hasLaterEntries, lastGrant, lastOverrides, lastHoldChange, openHolds } = row;
  if (customerId === null) return "the wallet has no customer";
  if (wallet === null) return null;
  if (hasLaterEntries) return `the wallet is at entry ${wallet.sequence}, but its ledger has later entries`;
  if (lastGrant !== wallet.grantCount)
    return `the wallet counts ${wallet.grantCount} grants, but the last grant has number ${lastGrant}`;
  if (lastOverrides !== wallet.overridesCount)
    return `the wallet counts ${wallet.overridesCount} overrides, but the last overrides have number ${lastOverrides}`;
  if (lastHoldChange !== wallet.holdChanges)
    return `the wallet counts ${wallet.holdChanges} changes to holds, but the last change has number ${lastHoldChange}`;
  if (openHolds < 0) return "the list of open holds does not match the last recorded change of each hold";
  if (openHolds !== wallet.openHolds)
    return `the wallet counts ${wallet.openHolds} open holds, but ${openHolds} are listed`;
  return null;
}
