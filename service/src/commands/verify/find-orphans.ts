import type { Tx } from "../../postgres/statement.ts";
import { findCustomerId } from "../../store/cell/customers.ts";
import { BEFORE_ALL, listOwners, WALKED_TABLES, type WalkedTable } from "../../store/cell/verify/walk.ts";
import type { Checked, Mismatch } from "./report.ts";

const ROWS_MAX = 5_000;

/** Every customer has a wallet, and so has everybody whose number stands in the ledger or among the grants. */
export async function findOrphan(tx: Tx, checked: Checked): Promise<Mismatch | null> {
  for (const table of WALKED_TABLES) {
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
  customers: "there is a customer, and no wallet",
  ledger: "there are ledger entries, and no wallet",
  grants: "there are grants, and no wallet",
} as const satisfies Record<WalkedTable, string>;
