import { assignPlan } from "../../entitlement/assign-plan.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { endPlan } from "../../entitlement/end-plan.ts";
import type { Change } from "../../entitlement/entry.ts";
import { compareWallets, viewWallet } from "../../entitlement/view-wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { parseTimestamp } from "../../primitives/timestamp.ts";
import { hasLaterEntry } from "../../store/cell/audit-entries.ts";
import type { OpenWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { AuditContent, AuditRecord } from "../../store/control/audit-scan.ts";
import type { Context } from "../context.ts";
import { readRevocation, saveRevocation } from "../credits/revoke-grant.ts";
import { saveBlock } from "../customers/block-customer.ts";
import { timeOrNull } from "../fields.ts";

export const UNDO_OUTCOMES = [
  "undone",
  "already_undone",
  "changed_since",
  "all_spent",
  "expired",
  "moved",
  "not_restorable",
  "erased",
] as const;

/** The effect of undoing one customer's change. */
export type CustomerUndo = {
  readonly outcome: (typeof UNDO_OUTCOMES)[number];
  /** Credits that are revoked now. */
  readonly credits: number;
  /** Credits set aside by open holds. Credits that a settlement does not use are lost when the hold ends. */
  readonly held: number;
  /** Credits that were already spent and cannot be revoked. Zero for an expired grant. */
  readonly spent: number;
  /** The key of the restored plan. Null for no plan and for the default plan. */
  readonly plan: string | null;
  readonly movedTo: CustomerId | null;
};

export type DecidedUndo = CustomerUndo & {
  /** Writes the undo to the locked wallet. Null if nothing changes. */
  readonly save: ((tx: Tx, context: Context) => Promise<void>) | null;
};

const KEPT = { credits: 0, held: 0, spent: 0, plan: null, movedTo: null, save: null };

export const ERASED: DecidedUndo = { ...KEPT, outcome: "erased" };

/** The actions that can be undone for one customer. */
export const UNDOABLE = ["credits.added", "plan.assigned", "customer.blocked", "customer.unblocked"] as const;
export type UndoableAction = (typeof UNDOABLE)[number];

/**
 * Decides how to undo the change that an audit entry records for a customer. A change is undone at most once. A plan or block is
 * restored only if it has not changed since the entry.
 */
export function decideUndo(
  tx: Tx,
  open: OpenWallet,
  entry: AuditRecord & { readonly action: UndoableAction },
): Promise<DecidedUndo> {
  switch (entry.action) {
    case "credits.added":
      return decideCredits(tx, open, entry);
    case "plan.assigned":
      return decidePlan(tx, open, entry);
    default:
      return decideBlock(tx, open, entry);
  }
}

/** Revokes the grant whose number is in the entry's subject. */
async function decideCredits(tx: Tx, open: OpenWallet, { subject }: AuditRecord): Promise<DecidedUndo> {
  const revocation = await readRevocation(tx, open, Number(subject.replace(/^grant /, "")));
  if (revocation.kind === "grant_not_found") return { ...KEPT, outcome: "not_restorable" };
  if (revocation.kind === "already_revoked") {
    const { movedTo } = revocation;
    if (movedTo === null) return { ...KEPT, outcome: "already_undone" };
    return { ...KEPT, outcome: "moved", movedTo: movedTo.customerId };
  }
  const { credits, held, grant } = revocation;
  // Expired credits are also missing from the wallet, but they were not spent.
  const isExpired = grant.expiresAt !== null && grant.expiresAt <= open.clock;
  const spent = isExpired ? 0 : grant.credits - credits - held;
  const save = (writing: Tx, context: Context): Promise<void> =>
    saveRevocation(writing, context, open, { ...revocation, note: null });
  if (credits + held === 0 && isExpired) return { ...KEPT, outcome: "expired" };
  // A fully spent grant is revoked too, so that a later reversal does not return the credits.
  if (credits + held === 0) return { ...KEPT, outcome: "all_spent", spent, save };
  return { ...KEPT, outcome: "undone", credits, held, spent, save };
}

const PLAN_ACTIONS = ["plan.%"];
const BLOCK_ACTIONS = ["customer.blocked", "customer.unblocked"];

/** Assigns the previous plan with its original anchor and end date. A period that has not ended resumes with its remaining allowance. */
async function decidePlan(
  tx: Tx,
  open: OpenWallet,
  { id, before, after }: AuditRecord,
): Promise<DecidedUndo> {
  const { catalog, wallet, clock } = open;
  const { assignment, next } = viewWallet(catalog, wallet, clock);
  const now = {
    plan: (assignment && catalog.plans.get(assignment.plan)?.key) ?? null,
    endsAt: timeOrNull(assignment?.endsAt ?? null),
    isDefault: assignment?.isDefault ?? false,
  };
  const isAt = (state: AuditContent | null): boolean =>
    now.plan === textIn(state, "plan") &&
    now.endsAt === textIn(state, "endsAt") &&
    now.isDefault === (state?.["isDefault"] === true);
  const previous = findAssigned(catalog, before);
  // No assigned plan and the default plan are the same state, because the default plan applies whenever no other plan is assigned.
  const isRestored = previous === null ? assignment === null || now.isDefault : isAt(before);
  if (isRestored) return { ...KEPT, outcome: "already_undone" };
  if (!isAt(after) || next !== null || (await hasLaterEntry(tx, open, id, PLAN_ACTIONS)))
    return { ...KEPT, outcome: "changed_since" };
  const restored = restorePlan(open, before, previous);
  if (restored === null) return { ...KEPT, outcome: "not_restorable" };
  const { plan, change } = restored;
  const action = plan === null ? "plan.ended" : "plan.assigned";
  const audits = [{ action, subject: plan ?? "plan", ...compareWallets(open, change.wallet) }];
  const save = (writing: Tx, context: Context): Promise<void> =>
    saveEdits(writing, { ...context, clock }, [{ ...open, change, audits }]);
  return { ...KEPT, outcome: "undone", plan, save };
}

type AssignedPlan = {
  readonly key: string;
  readonly endsAt: Instant | null;
  /** Null in entries written by 0.1. */
  readonly anchor: Instant | null;
};

/** Finds the assigned plan in an audit entry. Null for no plan and for the default plan. */
function findAssigned({ plans, defaultPlan }: Catalog, state: AuditContent | null): AssignedPlan | null {
  const key = textIn(state, "plan");
  if (key === null || state?.["isDefault"] === true) return null;
  const [endsAt, anchor] = [timeIn(state, "endsAt"), timeIn(state, "anchor")];
  const current = defaultPlan.plan === null ? null : plans.get(defaultPlan.plan);
  // Entries written by 0.1 do not mark default plans.
  return anchor === null && endsAt === null && current?.key === key ? null : { key, endsAt, anchor };
}

/** Restores the previous plan. Null if it was archived or has ended, or if another plan was scheduled after it. */
function restorePlan(
  { catalog, wallet, clock }: OpenWallet,
  before: AuditContent | null,
  previous: AssignedPlan | null,
): { readonly plan: string | null; readonly change: Change } | null {
  if (textIn(before, "nextPlan") !== null) return null;
  if (previous === null) {
    const ended = endPlan(catalog, wallet, {}, clock);
    return ended.kind === "ended" && ended.change !== null ? { plan: null, change: ended.change } : null;
  }
  const { key, anchor, endsAt } = previous;
  const plan = catalog.plans.values().find((known) => known.key === key)?.id;
  if (plan === undefined) return null;
  const outcome = assignPlan(catalog, wallet, { plan, anchor, endsAt, shorten: true }, clock);
  return outcome.kind === "changed" ? { plan: key, change: outcome.change } : null;
}

async function decideBlock(tx: Tx, open: OpenWallet, { id, action }: AuditRecord): Promise<DecidedUndo> {
  const wasBlocked = action === "customer.unblocked";
  if (open.wallet.isBlocked === wasBlocked) return { ...KEPT, outcome: "already_undone" };
  if (await hasLaterEntry(tx, open, id, BLOCK_ACTIONS)) return { ...KEPT, outcome: "changed_since" };
  const save = (writing: Tx, context: Context): Promise<void> =>
    saveBlock(writing, context, open, wasBlocked);
  return { ...KEPT, outcome: "undone", save };
}

function timeIn(state: AuditContent | null, field: string): Instant | null {
  const text = textIn(state, field);
  if (text === null) return null;
  const time = parseTimestamp(text);
  assert(time.kind === "instant", "the audit log has valid times");
  return time.at;
}

function textIn(state: AuditContent | null, field: string): string | null {
  const value = state?.[field];
  return typeof value === "string" ? value : null;
}
