import { type AssignmentOutcome, assignPlan as decideAssignment } from "../../entitlement/assign-plan.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { openOrCreateWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type AssignPlanInput = {
  readonly customerId: CustomerId;
  /** The plan's key. */
  readonly plan: string;
  readonly anchor: Instant | null;
  /** Null: no end. Undefined: keep the current end. */
  readonly endsAt?: Instant | null | undefined;
  readonly shorten?: boolean;
  readonly asOf?: Instant | null;
};

export type AssignPlanOutcome =
  | { kind: "changed" }
  | { kind: "unchanged" }
  | { kind: "plan_not_found" }
  | Exclude<AssignmentOutcome, { change: unknown }>;

/** Spec 3: safe to repeat. Creates the customer if it does not exist. */
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
