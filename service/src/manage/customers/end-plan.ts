import { endPlan as decideEnd } from "../../entitlement/assign-plan.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, Instant } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { auditCustomer, openWallet, saveChange, summarize, summarizeBefore } from "./open-wallet.ts";
import { walletTransaction } from "./wallet-transaction.ts";

export type EndPlanOutcome = {
  kind: "ended" | "no_assignment" | "unchanged" | "customer_not_found" | "as_of_out_of_range";
};

/** Ends a customer's plan now. Purchased credits stay. */
export function endPlan(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId; readonly asOf?: Instant | null },
): Promise<EndPlanOutcome> {
  return walletTransaction<EndPlanOutcome>(cell, context, input.customerId, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open === null) return { kind: "customer_not_found" };
    const { catalog, wallet, clock } = open;
    const outcome = decideEnd(catalog, wallet, { asOf: input.asOf ?? null }, clock);
    if (outcome.kind === "as_of_out_of_range") return outcome;
    await saveChange(tx, open, outcome.change);
    if (outcome.kind === "ended") {
      await auditCustomer(tx, context, open, {
        action: "plan.ended",
        subject: "plan",
        before: summarizeBefore(open),
        after: summarize(outcome.change?.wallet ?? wallet, catalog),
      });
    }
    return { kind: outcome.kind };
  });
}
