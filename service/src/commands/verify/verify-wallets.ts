import { Lacking } from "../../postgres/lacking.ts";
import type { Tx } from "../../postgres/statement.ts";
import { loadCatalogs } from "../../store/cell/catalogs.ts";
import { BEFORE_ALL, listWallets, type WalletRow } from "../../store/cell/verify-wallets.ts";
import type { Checked, Mismatch } from "./report.ts";
import { batchesOf, type ReadableRow } from "./runs.ts";
import { type Catalogs, verifyBatch } from "./verify-batch.ts";

const WALLETS_MAX = 500;
/** More than the plan versions that a batch can refer to. */
const FETCHES_MAX = 2_000;

/**
 * Compares every wallet with its ledger while the service writes both. A wallet is read with its last entry's number; entries up to
 * that number never change, so they can be read later, a few at a time.
 */
export async function verifyWallets(
  tx: Tx,
  checked: Checked,
  onPage: (checked: Checked) => void,
): Promise<Mismatch | null> {
  let page = await listWallets(tx, BEFORE_ALL, WALLETS_MAX);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    // After the wallets, so that every version they refer to exists. Only for this page: an installation may have thousands.
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

/** Folds again after loading a plan version that was not in memory. */
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
      if (!(error instanceof Lacking) || fetches === FETCHES_MAX) throw error;
      Object.assign(checked, before);
      await error.fetch(tx);
    }
  }
}

/** Checks that need only the wallet's row. */
function findFlaw({ customerId, wallet, hasLaterEntries, lastGrant }: WalletRow): string | null {
  if (customerId === null) return "the wallet has no customer";
  if (wallet === null) return null;
  if (hasLaterEntries) return `the wallet is at entry ${wallet.sequence}, but its ledger has later entries`;
  if (lastGrant !== wallet.grantCount)
    return `the wallet counts ${wallet.grantCount} grants, but the last one is ${lastGrant}`;
  return null;
}
