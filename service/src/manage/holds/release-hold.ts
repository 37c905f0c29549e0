import { releaseHold as decideRelease } from "../../entitlement/change-hold.ts";
import { creditsIn, overageIn } from "../../entitlement/hold-answer.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { parseHoldId } from "../../primitives/hold-id.ts";
import { findLatestHolds } from "../../store/cell/hold-list.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

type ReleaseOutcome =
  | { readonly kind: "released"; readonly credits: number; readonly overageCredits: number }
  | {
      readonly kind:
        | "customer_not_found"
        | "hold_not_found"
        | "hold_settled"
        | "hold_released"
        | "hold_expired";
    };

/** Releases a hold manually and frees its credits and overage, for example after the process that opened the hold has crashed. */
export function releaseHold(
  cell: Pool,
  context: Context,
  { customerId, holdId }: { readonly customerId: CustomerId; readonly holdId: string },
): Promise<ReleaseOutcome> {
  return walletTransaction<ReleaseOutcome>(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    if (open === null) return { kind: "customer_not_found" };
    const { environmentId, customerNumber, catalog, wallet, clock } = open;
    const id = parseHoldId(holdId);
    if (id === null || id.customerNumber !== customerNumber) return { kind: "hold_not_found" };
    const [latest] = await findLatestHolds(tx, [{ ...id, environmentId }]);
    if (latest?.hold.openedAt !== id.openedAt) return { kind: "hold_not_found" };
    const { kind, hold } = latest;
    if (kind === "settled" || kind === "released") return { kind: `hold_${kind}` };
    const outcome = decideRelease(catalog, wallet, hold, clock);
    if (outcome.kind === "hold_expired") return outcome;
    const { change } = outcome;
    const [credits, overageCredits] = [creditsIn(hold), overageIn(hold)];
    const { before, after } = compareWallets(open, change.wallet);
    const released = { ...after, credits, ...(overageCredits === 0 ? {} : { overageCredits }) };
    const audits = [{ action: "hold.released", subject: holdId, before, after: released }];
    await saveEdits(tx, { ...context, clock }, [{ ...open, change, audits }]);
    return { kind: "released", credits, overageCredits };
  });
}
