import { Session } from "../../postgres/session.ts";
import type { Tx } from "../../postgres/statement.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { findCustomerId } from "../../store/cell/customers.ts";
import { findWholeLedgerSince } from "../../store/cell/usage/attached-months.ts";
import {
  BEFORE_ALL,
  listOwners,
  SCANNED_TABLES,
  type ScannedTable,
} from "../../store/cell/verify-wallets.ts";
import type { Checked, Mismatch, Report } from "./report.ts";
import { Unhurried } from "./unhurried.ts";
import { verifyWallets } from "./verify-wallets.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** Verifies all wallets, up to the first mismatch. Reports progress after each page. */
export async function verifyDatabase(
  databaseUrl: string,
  onProgress: (checked: Checked) => void = () => {},
): Promise<Report> {
  const session = await connect(databaseUrl);
  try {
    const tx = new Unhurried(session);
    await refuseDetached(tx);
    const checked: Checked = { customers: 0, wallets: 0, entries: 0, grants: 0, reversals: 0 };
    const mismatch = (await verifyWallets(tx, checked, onProgress)) ?? (await findOrphan(tx, checked));
    // A month may have been detached meanwhile.
    if (mismatch !== null) await refuseDetached(tx);
    return { checked, mismatch, statementMsMax: tx.statementMsMax };
  } finally {
    session.destroy();
  }
}

/** Without its first entries, a ledger proves nothing. */
async function refuseDetached(tx: Tx): Promise<void> {
  const since = await findWholeLedgerSince(tx);
  if (since !== null)
    throw new Error(
      `ledger months before ${formatTimestamp(since)} are detached; attach them first to verify wallets`,
    );
}

/** With a lane's settings: these are point look-ups too, and a full scan would slow down other queries. */
async function connect(url: string): Promise<Session> {
  try {
    return await Session.open({ url, name: "purser verify", connectTimeoutMs: CONNECT_TIMEOUT_MS });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot connect to the database in DATABASE_URL: ${reason}`, { cause: error });
  }
}

const ROWS_MAX = 5_000;

/** Finds a customer, ledger entry or grant without a wallet. */
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
} as const satisfies Record<ScannedTable, string>;
