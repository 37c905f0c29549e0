import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { noteField } from "../../edge/request-fields.ts";
import { reversalProblem } from "../../edge/reversal-problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import { ITEMS_MAX } from "../../primitives/consume-id.ts";
import { Customer } from "../customers/describe-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readChanged,
} from "../customers/operations.ts";
import { invalidField, nullable, strictObject } from "../fields.ts";
import { historyStartOf } from "../history-window.ts";
import { contextOf, type Operation, operation, principalOf, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { addCredits, CreditsBody, explainRefusal, readCredits } from "./add-credits.ts";
import { moveOperations } from "./move-operations.ts";
import { CreditsPreview, previewCredits } from "./preview-credits.ts";
import { type PreviewOutcome, previewReversal, ReversalPreview } from "./preview-reversal.ts";
import { type ReverseOutcome, reverseConsume } from "./reverse-consume.ts";
import { revokeOperation } from "./revoke-grant.ts";

const NOUN = "Credits";
const access = { role: "operator", in: "environment" } as const;
const QUANTITY_MAX = 1_000_000;

const consumeParams = Type.Object({
  ...customerParams.properties,
  consumeId: Type.String({ maxLength: 60, examples: ["con_01m7e9sv4w0000000000a00002"] }),
});

const quantityField = Type.Optional(
  nullable(
    Type.Integer({
      minimum: 1,
      maximum: QUANTITY_MAX,
      description: "The quantity to reverse. Default: the whole quantity that is not yet reversed.",
      examples: [1],
    }),
  ),
);

const itemField = Type.Optional(
  nullable(
    Type.Integer({
      minimum: 0,
      maximum: ITEMS_MAX - 1,
      description:
        "The index of the charge in the request's `items`. If omitted or null, all charges of the request are reversed.",
      examples: [0],
    }),
  ),
);

const ReversalBody = strictObject({
  item: itemField,
  quantity: quantityField,
  reference: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          "Makes the call safe to repeat: a second call with the same reference reverses nothing more of this charge.",
        examples: ["ticket-1234"],
      }),
    ),
  ),
  note: Type.Optional(nullable(noteField)),
});

/** Adds credits, revokes and moves grants, and reverses charges. */
export function creditsOperations(parts: ManageParts): Operation[] {
  return [
    adding(parts),
    previewing(parts),
    revokeOperation(parts),
    ...moveOperations(parts),
    reversing(parts),
    previewingReversal(parts),
  ];
}

function adding({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/credits`,
    access,
    id: "addCredits",
    noun: NOUN,
    summary: "Add credits",
    description:
      "Adds credits to a customer, and creates the customer if it does not exist. Without a `reference`, each call " +
      "adds the credits again. With a `reference`, the credits are added only once. `pool` defaults to `credits`.",
    params: customerParams,
    body: CreditsBody,
    answer: Type.Object({
      outcome: Type.Enum(["added", "already_added"]),
      grant: Type.Integer({ description: "Grant number, unique per customer.", examples: [7] }),
      balanceBefore: Type.Integer({ examples: [1250] }),
      balanceAfter: Type.Integer({ examples: [1750] }),
    }),
    codes: ["unknown_key", "ends_in_the_past", "reference_reused", "too_many_grants", "balance_too_large"],
    handle: async (call) => {
      const input = readCredits(customerIdOf(call), call.body);
      const outcome = await addCredits(cellOf(scopeOf(call)), contextOf(call), input);
      if (outcome.kind === "added") {
        const { grant, balanceBefore, balanceAfter } = outcome;
        return { outcome: outcome.kind, grant, balanceBefore, balanceAfter };
      }
      if (outcome.kind === "already_added") {
        const { kind, grant, balance } = outcome;
        return { outcome: kind, grant, balanceBefore: balance, balanceAfter: balance };
      }
      const since = outcome.kind === "reference_reused" ? await historyStartOf(control, call) : null;
      const isShown = outcome.kind === "reference_reused" && outcome.usedBy.effectiveAt >= (since ?? 0);
      const usedBy = isShown ? outcome.usedBy : null;
      const { code, ...details } = explainRefusal(outcome.kind, { ...input, usedBy });
      throw new Problem(code, details);
    },
  });
}

function previewing({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/credits/preview`,
    access,
    id: "previewCredits",
    noun: NOUN,
    summary: "Preview adding credits",
    description:
      "Returns what adding credits with the same body would do. Writes nothing. The response shows the balance before and after, " +
      "what the credits pay for, identical credits added in the last ten minutes, and the grant that already uses the reference.",
    params: customerParams,
    body: CreditsBody,
    answer: CreditsPreview,
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { workspaceId } = principalOf(call);
      const input = readCredits(customerIdOf(call), call.body);
      return previewCredits({ cell: cellOf(scopeOf(call)), control }, { environmentId, workspaceId }, input);
    },
  });
}

function reversing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/consumes/:consumeId/reverse`,
    access,
    id: "reverseConsume",
    noun: NOUN,
    summary: "Reverse a charge",
    description:
      "Reverses the whole charge or part of its quantity.\n\n" +
      "- For a request with several `items`, reverses all of its charges, or only the one at index `item`. A `quantity` then requires " +
      "`item`.\n" +
      "- Credits return to the grants they were taken from, with the same expiry. The limit counter decreases.\n" +
      "- Never reverses more than was charged.\n" +
      "- Without a `reference`, repeating a partial reversal reverses another part.",
    params: consumeParams,
    body: ReversalBody,
    answer: Type.Object({
      outcome: Type.Enum(["reversed", "already_reversed"]),
      quantity: Type.Integer({ description: "Quantity reversed in total, for all items.", examples: [1] }),
      credits: Type.Integer({
        description:
          "Credits returned in total, for all items. Credits returned to an expired grant expire again immediately.",
        examples: [10],
      }),
      overageCredits: Type.Integer({
        description: "Overage reversed in total, for all items.",
        examples: [0],
      }),
      items: Type.Array(
        Type.Object({
          item: Type.Integer({ examples: [0] }),
          quantity: Type.Integer({ examples: [1] }),
          credits: Type.Integer({ examples: [10] }),
          overageCredits: Type.Integer({ examples: [0] }),
        }),
        {
          description: "The reversed amounts by item. A request without `items` has one item, with index 0.",
        },
      ),
      customer: Customer,
    }),
    codes: ["nothing_to_reverse", "reference_reused", "balance_too_large", "ledger_detached"],
    handle: async (call) => {
      const { item = null, quantity = null, reference = null, note = null } = call.body;
      const outcome = await reverseConsume(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        consumeId: call.params.consumeId,
        item,
        quantity,
        reference,
        note,
      });
      if (outcome.kind !== "reversed" && outcome.kind !== "already_reversed") throw toProblem(outcome);
      const customer = await readChanged(cellOf, call);
      const { kind, quantity: reversed, credits, overageCredits, items } = outcome;
      return { outcome: kind, quantity: reversed, credits, overageCredits, items: [...items], customer };
    },
  });
}

function previewingReversal({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/consumes/:consumeId/reverse/preview`,
    access,
    id: "previewReversal",
    noun: NOUN,
    summary: "Preview reversing a charge",
    description:
      "Returns what reversing the charge would do. Writes nothing. The response shows the balance before and after, the grants that get " +
      "credits back, and how many of these credits can be spent again. For a request with several `items`, `item` is required. Charges before the " +
      "workspace's history window can be previewed, because they can also be reversed.",
    params: consumeParams,
    body: strictObject({ item: itemField, quantity: quantityField }),
    answer: ReversalPreview,
    codes: ["nothing_to_reverse", "balance_too_large", "ledger_detached"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { item = null, quantity = null } = call.body;
      const { consumeId } = call.params;
      const asked = { customerId: customerIdOf(call), consumeId, item, quantity };
      const outcome = await previewReversal(cellOf(scopeOf(call)), environmentId, asked);
      if (outcome.kind !== "preview") throw toProblem(outcome);
      return outcome.preview;
    },
  });
}

type Refusal =
  | Exclude<ReverseOutcome, { kind: "reversed" | "already_reversed" }>
  | Exclude<PreviewOutcome, { kind: "preview" }>;

function toProblem(outcome: Refusal): Problem {
  switch (outcome.kind) {
    case "customer_not_found":
      return customerNotFound();
    case "consume_not_found":
      return new Problem("not_found", { detail: "This customer has no such charge." });
    case "item_required":
      return invalidField({
        field: "item",
        code: "required",
        message: "is required, because the request charged several items",
      });
    case "reference_reused":
      return new Problem("reference_reused", {
        detail: "This reference was already used to reverse another item or quantity of this charge.",
      });
    case "nothing_left":
    case "too_much":
    case "balance_too_large":
      return reversalProblem(outcome);
    default:
      return assertNever(outcome);
  }
}
