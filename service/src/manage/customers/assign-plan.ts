import { isDeepStrictEqual } from "node:util";
import {
  type AssignmentOutcome,
  assignPlan as decideAssignment,
  type PlanTime,
} from "../../entitlement/assign-plan.ts";
import { hasAssignedPlan } from "../../entitlement/assignment.ts";
import { dropNextPlan as decideDrop, endPlan as decideEnd } from "../../entitlement/end-plan.ts";
import type { Change } from "../../entitlement/entry.ts";
import { compareWallets, viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { type OpenWallet, openOrCreateWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { type AuditLine, saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { refuseUnfinishedUpgrade } from "../refuse-unfinished-upgrade.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type AssignPlanInput = {
  readonly customerId: CustomerId;
  /** The plan's key. */
  readonly plan: string;
  readonly anchor: Instant | null;
  /** Null starts the plan now. */
  readonly startsAt?: PlanTime | null;
  /** Null for no end date. Undefined keeps the current end date. */
  readonly endsAt?: PlanTime | null | undefined;
  readonly shorten?: boolean;
  readonly asOf?: Instant | null;
};

export type AssignPlanOutcome =
  | { kind: "changed" }
  | { kind: "unchanged" }
  | { kind: "plan_not_found" }
  | Exclude<AssignmentOutcome, { change: unknown }>;

/** The first data format that supports pending plan changes. */
const DATA_FORMAT_OF_NEXT = 2;

/** Assigns a plan now or later. Safe to repeat. Creates the customer if it does not exist. */
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
      const { anchor, startsAt = null, endsAt, shorten = false, asOf = null } = input;
      const request = { plan: plan.id, anchor, startsAt, endsAt, shorten, asOf };
      const outcome = decideAssignment(catalog, wallet, request, clock);
      if (!("change" in outcome)) return outcome;
      if (outcome.change !== null && outcome.change.wallet.next !== null) {
        const feature = "A plan that starts in the future";
        await refuseUnfinishedUpgrade(tx, { feature, dataFormat: DATA_FORMAT_OF_NEXT });
      }
      const audits = outcome.kind === "changed" ? [auditOf(open, input.plan, outcome.change)] : [];
      await saveEdits(tx, { ...context, clock }, [{ ...open, change: outcome.change, audits }]);
      return { kind: outcome.kind };
    },
    ({ kind }) => kind === "changed" || kind === "unchanged",
  );
}

function auditOf(open: OpenWallet, plan: string, { wallet }: Change): AuditLine {
  return { action: actionOf(open, wallet), subject: plan, ...compareWallets(open, wallet) };
}

/** Chooses the audit action. Applies due changes to the earlier wallet first, because the call did not cause these changes. */
function actionOf({ catalog, wallet, clock }: OpenWallet, after: Wallet): string {
  const before = viewWallet(catalog, wallet, clock);
  if (after.next !== null && !isDeepStrictEqual(before.next, after.next)) return "plan.scheduled";
  const isSamePlan =
    before.assignment?.number === after.assignment?.number &&
    before.assignment?.endsAt === after.assignment?.endsAt &&
    before.assignment?.isDefault === after.assignment?.isDefault;
  if (isSamePlan) return "plan.unscheduled";
  return hasAssignedPlan(after) ? "plan.assigned" : "plan.ended";
}

type EndPlanOutcome = {
  kind: "ended" | "no_assignment" | "unchanged" | "customer_not_found" | "as_of_out_of_range";
};

/**
 * Ends a customer's plan now. Purchased credits are kept. With `asOf`, creates a missing customer to store the time, because an older
 * billing event that assigns a plan may still arrive.
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
      const hadPlan = hasAssignedPlan(viewWallet(catalog, wallet, clock));
      const action = hadPlan ? "plan.ended" : "plan.unscheduled";
      const audits = outcome.kind === "ended" ? [{ action, subject: "plan", ...compared }] : [];
      await saveEdits(tx, { ...context, clock }, [{ ...open, change, audits }]);
      return { kind: outcome.kind };
    },
    ({ kind }) => kind !== "as_of_out_of_range",
  );
}

type DropOutcome = { kind: "changed" | "unchanged" | "customer_not_found" };

/** Drops the pending plan change. The current plan does not change. */
export function dropNextPlan(
  cell: Pool,
  context: Context,
  { customerId }: { readonly customerId: CustomerId },
): Promise<DropOutcome> {
  return walletTransaction<DropOutcome>(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    if (open === null) return { kind: "customer_not_found" };
    const { catalog, wallet, clock } = open;
    const { kind, change } = decideDrop(catalog, wallet, clock);
    const compared = compareWallets(open, change?.wallet ?? wallet);
    const audits = kind === "changed" ? [{ action: "plan.unscheduled", subject: "plan", ...compared }] : [];
    await saveEdits(tx, { ...context, clock }, [{ ...open, change, audits }]);
    return { kind };
  });
}
