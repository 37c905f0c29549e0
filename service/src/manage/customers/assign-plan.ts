import {
  type AssignmentOutcome,
  assignPlan as decideAssignment,
  endPlan as decideEnd,
} from "../../entitlement/assign-plan.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { openOrCreateWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type AssignPlanInput = {
  readonly customerId: CustomerId;
  /** The plan's key. */
  readonly plan: string;
  readonly anchor: Instant | null;
  /** Null for no end. Undefined keeps the current end. */
  readonly endsAt?: Instant | null | undefined;
  readonly shorten?: boolean;
  readonly asOf?: Instant | null;
};

export type AssignPlanOutcome =
  | { kind: "changed" }
  | { kind: "unchanged" }
  | { kind: "plan_not_found" }
  | Exclude<AssignmentOutcome, { change: unknown }>;

/** Safe to repeat. Creates the customer if it does not exist. */
export function assignPlan(cell: Pool, context: Context, input: AssignPlanInput): Promise<AssignPlanOutcome> {
  return walletTransaction<AssignPlanOutcome>(
    cell,
    context,
    input.customerId,
    async (tx) => {
      const open = await openOrCreateWallet(tx, context, input.customerId);
      const { catalog, wallet, clock } = open;
      const plan = [...catalog.plans.values()].find(({ key }) => key === input.plan);
      if (plan === undefined) return { kind: "plan_not_found" };
      const { anchor, endsAt, shorten = false, asOf = null } = input;
      const request = { plan: plan.id, anchor, endsAt, shorten, asOf };
      const outcome = decideAssignment(catalog, wallet, request, clock);
      if (!("change" in outcome)) return outcome;
      const audits =
        outcome.kind === "changed"
          ? [{ action: "plan.assigned", subject: input.plan, ...compareWallets(open, outcome.change.wallet) }]
          : [];
      await saveEdits(tx, { ...context, clock }, [{ ...open, change: outcome.change, audits }]);
      return { kind: outcome.kind };
    },
    ({ kind }) => kind === "changed" || kind === "unchanged",
  );
}

type EndPlanOutcome = {
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
