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
  action: Type.String({ description: "The action of the change.", examples: ["credits.added_in_bulk"] }),
  undone: countOf("Customers whose change is undone.", 38),
  alreadyUndone: countOf("Customers whose change was undone before."),
  changedSince: countOf("Customers whose plan or block has changed again since. They are not changed."),
  allSpent: countOf(
    "Customers who have spent all of the credits. There is nothing to remove, but the credits are revoked, so that a later reversal " +
      "does not return them.",
    2,
  ),
  expired: countOf("Customers whose credits have expired."),
  moved: countOf("Customers whose credits were moved to another customer, who keeps them."),
  notRestorable: countOf(
    "Customers whose previous plan has ended, was archived, or had another plan scheduled after it.",
  ),
  erased: countOf("Customers who were erased."),
  credits: countOf("Credits that are revoked.", 1900),
  held: countOf("Credits that open holds set aside. They are revoked when the hold ends."),
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
          description: "The key of the plan that the customer gets back. Null for none or the default plan.",
          examples: ["pro"],
        }),
      ),
      movedTo: nullable(
        Type.String({ description: "The customer who has the credits now.", examples: ["customer_43"] }),
      ),
    }),
    { description: "The first 200 customers. The counts include all." },
  ),
  auditEntryId: nullable(
    Type.String({
      description:
        "The ID of the audit entry for the undo of a bulk change. Null in a preview, for a single customer, and if nothing was " +
        "changed.",
      examples: ["01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00"],
    }),
  ),
});

const WHAT =
  "Works for added credits, assigned plans and blocks, for one customer or in bulk. A bulk change that was cut off is undone by its " +
  "`bulk_change.started` entry. Unspent credits are revoked, the previous plan is " +
  "assigned again with its end, and blocks are removed or set again. Customers whose plan or block has changed since are not changed.";

/** Undoes changes of the audit log. The undo of a bulk change shares its turns with the bulk changes: both use several connections. */
export function undoOperations({ cellOf }: ManageParts, turns: Turns): Operation[] {
  const inTurn = async <T>(call: Call<{ entryId: string }>, work: () => Promise<T>): Promise<T> => {
    const { cell, environmentId } = scopeOf(call);
    const isBulk = await isBulkEntry(cellOf(cell), environmentId, call.params.entryId);
    return isBulk ? turns.take(environmentId, work) : work();
  };
  return [
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/audit/:entryId/undo/preview`,
      access,
      id: "previewUndo",
      noun: NOUN,
      summary: "Preview undoing a change",
      description: `Returns what the undo would do now, and writes nothing. ${WHAT}`,
      params,
      answer: Undo,
      codes: ["not_undoable"],
      handle: async (call) => {
        const { cell, environmentId } = scopeOf(call);
        const outcome = await inTurn(call, () =>
          previewUndo(cellOf(cell), environmentId, call.params.entryId, callerOf(call)),
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
        `${WHAT} Safe to repeat: a change is undone at most once. The call stops soon after you disconnect or lose access; send ` +
        "it again to finish.",
      params,
      answer: Undo,
      codes: ["not_undoable"],
      handle: async (call) => {
        const { cell } = scopeOf(call);
        const outcome = await inTurn(call, () =>
          reportInterruption(() =>
            undoEntry(cellOf(cell), contextOf(call), call.params.entryId, callerOf(call)),
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
      detail: "Only added credits, assigned plans and blocks can be undone, and bulk changes since 0.2.",
    });
  if (outcome.kind === "running")
    throw new Problem("not_undoable", {
      detail:
        "The bulk change is still running, or was cut off less than five minutes ago. Try again in a minute.",
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
