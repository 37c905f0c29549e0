import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { callerOf, reportInterruption, type Turns } from "../bulk/turns.ts";
import { nullable, shownCustomerName } from "../fields.ts";
import {
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { UNDO_OUTCOMES } from "./undo-customer.ts";
import { isBulkEntry, previewUndo, type UndoOutcome, undoEntry } from "./undo-entry.ts";

const NOUN = "Audit";
const access = { role: "operator", in: "environment" } as const;

const params = Type.Object({
  ...environmentParams,
  entryId: Type.String({
    pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    description: "The ID of the audit entry.",
    examples: ["01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00"],
  }),
});

const countOf = (description: string, example = 0) => Type.Integer({ description, examples: [example] });

export const Undo = Type.Object({
  action: Type.String({
    description: "The audit action of the change.",
    examples: ["credits.added_in_bulk"],
  }),
  undone: countOf("Customers whose change is undone.", 38),
  alreadyUndone: countOf("Customers whose change was already undone."),
  changedSince: countOf(
    "Customers who are skipped, because their plan or block has changed since the change to undo.",
  ),
  allSpent: countOf(
    "Customers who have spent all of the credits. The grant is still revoked, so that a later reversal does not return the " +
      "credits.",
    2,
  ),
  expired: countOf("Customers whose credits have expired."),
  moved: countOf(
    "Customers whose credits were moved to another customer. The other customer keeps the credits.",
  ),
  notRestorable: countOf(
    "Customers whose previous plan has ended, was archived, or had another plan scheduled after it.",
  ),
  erased: countOf("Customers who were erased."),
  credits: countOf("Unspent credits that are revoked.", 1900),
  held: countOf(
    "Credits set aside by open holds. A settlement can still use these credits. Unused credits are lost when the hold ends.",
  ),
  spent: countOf(
    "Credits that were already spent and cannot be revoked. Credits of expired grants are not counted.",
    100,
  ),
  customers: Type.Array(
    Type.Object({
      customerId: nullable(
        Type.String({ description: "Null if the customer was erased.", examples: ["customer_42"] }),
      ),
      customerName: shownCustomerName,
      outcome: Type.Enum([...UNDO_OUTCOMES]),
      credits: Type.Integer({ examples: [50] }),
      held: Type.Integer({ examples: [0] }),
      spent: Type.Integer({ examples: [0] }),
      plan: nullable(
        Type.String({
          description: "The key of the restored plan. Null for no plan and for the default plan.",
          examples: ["pro"],
        }),
      ),
      movedTo: nullable(
        Type.String({
          description: "The customer to whom the credits were moved.",
          examples: ["customer_43"],
        }),
      ),
    }),
    { description: "Affected customers, at most 200. The counts include all customers." },
  ),
  auditEntryId: nullable(
    Type.String({
      description:
        "The ID of the audit entry that records the undo of a bulk change. Null in a preview, for a single customer, and if nothing " +
        "was changed.",
      examples: ["01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00"],
    }),
  ),
});

const WHAT =
  "You can undo these changes, for one customer or in bulk:\n\n" +
  "- Added credits: unspent credits are revoked.\n" +
  "- Assigned plans: the previous plan is assigned again with its original end date.\n" +
  "- Blocked or unblocked customers: the block is removed or restored.\n\n" +
  "Customers whose plan or block has changed since that change are skipped. To undo an interrupted bulk change, use its " +
  "`bulk_change.started` entry.";

/** Undoes audited changes. Undoing a bulk change counts as a long-running call, like the bulk change itself. */
export function undoOperations({ cellOf }: ManageParts, turns: Turns): Operation[] {
  const inTurn = async <T>(call: Call<{ entryId: string }>, work: () => Promise<T>): Promise<T> => {
    const { environmentId } = scopeOf(call);
    const isBulk = await isBulkEntry(cellOf(scopeOf(call)), environmentId, call.params.entryId);
    return isBulk ? turns.take(environmentId, work) : work();
  };
  return [
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/audit/:entryId/undo/preview`,
      access,
      id: "previewUndo",
      noun: NOUN,
      summary: "Preview an undo",
      description: `Returns what the undo would change now. Changes nothing. ${WHAT}`,
      params,
      answer: Undo,
      codes: ["not_undoable"],
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const outcome = await inTurn(call, () =>
          previewUndo(cellOf(scopeOf(call)), environmentId, call.params.entryId, callerOf(call)),
        );
        return describe(outcome);
      },
    }),
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/audit/:entryId/undo`,
      access,
      id: "undoChange",
      noun: NOUN,
      summary: "Undo a change",
      description:
        `${WHAT} Safe to repeat: a change is undone at most once. The call stops soon after you disconnect or lose access. Send ` +
        "the call again to finish the undo.",
      params,
      answer: Undo,
      codes: ["not_undoable"],
      handle: async (call) => {
        const outcome = await inTurn(call, () =>
          reportInterruption(() =>
            undoEntry(cellOf(scopeOf(call)), contextOf(call), call.params.entryId, callerOf(call)),
          ),
        );
        return describe(outcome);
      },
    }),
  ];
}

function describe(outcome: UndoOutcome): Static<typeof Undo> {
  if (outcome.kind === "not_found")
    throw new Problem("not_found", { detail: "There is no such audit entry in this environment." });
  if (outcome.kind === "not_undoable")
    throw new Problem("not_undoable", {
      detail:
        "Only added credits, assigned plans and blocks can be undone. Bulk changes made before 0.2 cannot be undone.",
    });
  if (outcome.kind === "running")
    throw new Problem("not_undoable", {
      detail:
        "The bulk change is still running, or was interrupted less than five minutes ago. Try again in a minute.",
      retryAfterSeconds: 60,
    });
  const { action, counts, credits, held, spent, customers, auditEntryId } = outcome;
  return {
    ...{ action, undone: counts.undone, alreadyUndone: counts.already_undone },
    ...{ changedSince: counts.changed_since, allSpent: counts.all_spent, expired: counts.expired },
    ...{ moved: counts.moved, notRestorable: counts.not_restorable, erased: counts.erased },
    ...{ credits, held, spent, customers: [...customers], auditEntryId },
  };
}
