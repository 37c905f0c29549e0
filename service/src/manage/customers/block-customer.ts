import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { type OpenWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { blockWallet } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type BlockOutcome = { kind: "changed" | "unchanged" | "customer_not_found" };

/** Blocks or unblocks a customer. A blocked customer keeps the plan and credits, but all checks, charges and new holds are denied. */
export function blockCustomer(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId; readonly isBlocked: boolean },
): Promise<BlockOutcome> {
  return walletTransaction<BlockOutcome>(cell, context, input.customerId, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open === null) return { kind: "customer_not_found" };
    if (open.wallet.isBlocked === input.isBlocked) return { kind: "unchanged" };
    await saveBlock(tx, context, open, input.isBlocked);
    return { kind: "changed" };
  });
}

/** Blocks or unblocks a wallet. The caller must hold the wallet's lock. */
export async function saveBlock(
  tx: Tx,
  context: Context,
  open: OpenWallet,
  isBlocked: boolean,
): Promise<void> {
  await blockWallet(tx, open, isBlocked);
  const audit = {
    action: isBlocked ? "customer.blocked" : "customer.unblocked",
    subject: "customer",
    before: { isBlocked: open.wallet.isBlocked },
    after: { isBlocked },
  };
  await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
}
