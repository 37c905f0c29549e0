import { endPlan as decideEnd } from "../../entitlement/assign-plan.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { openOrCreateWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type EndPlanOutcome = {
  kind: "ended" | "no_assignment" | "unchanged" | "customer_not_found" | "as_of_out_of_range";
};

/**
 * Ends a customer's plan now. Purchased credits stay. With `asOf`, a missing customer is created to store it, because an older
 * event that started the plan may still arrive.
 */
export function endPlan(
  cell: Pool,
  context: Context,
  { customerId, asOf = null }: { readonly customerId: CustomerId; readonly asOf?: Instant | null },
): Promise<EndPlanOutcome> {
  const openIt = asOf === null ? openWallet : openOrCreateWallet;
  return walletTransaction<EndPlanOutcome>(
    cell,
    context,
    customerId,
    async (tx) => {
      const open = await openIt(tx, context, customerId);
      if (open === null) return { kind: "customer_not_found" };
      const { catalog, wallet, clock } = open;
      const outcome = decideEnd(catalog, wallet, { asOf }, clock);
      if (outcome.kind === "as_of_out_of_range") return outcome;
      const { change } = outcome;
      const compared = compareWallets(open, change?.wallet ?? wallet);
      const audits = outcome.kind === "ended" ? [{ action: "plan.ended", subject: "plan", ...compared }] : [];
      await saveEdits(tx, { ...context, clock }, [{ ...open, change, audits }]);
      return { kind: outcome.kind };
    },
    ({ kind }) => kind !== "as_of_out_of_range",
  );
}
