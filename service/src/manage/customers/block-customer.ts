import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { blockWallet } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type BlockOutcome = { kind: "changed" | "unchanged" | "customer_not_found" };

/** A blocked customer is denied everything but keeps plan and credits. */
export function blockCustomer(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId; readonly isBlocked: boolean },
): Promise<BlockOutcome> {
  return walletTransaction<BlockOutcome>(cell, context, input.customerId, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open === null) return { kind: "customer_not_found" };
    const { isBlocked } = open.wallet;
    if (isBlocked === input.isBlocked) return { kind: "unchanged" };
    await blockWallet(tx, open, input.isBlocked);
    const audit = {
      action: input.isBlocked ? "customer.blocked" : "customer.unblocked",
      subject: "customer",
      before: { isBlocked },
      after: { isBlocked: input.isBlocked },
    };
    await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
    return { kind: "changed" };
  });
}
