import { type FieldError, Problem } from "../../edge/problem.ts";
import { reversalProblem } from "../../edge/reversal-problem.ts";
import {
  type KeyedReversal,
  type KeyedReversalOutcome,
  keyReversal,
  type Reversal,
} from "../../entitlement/reversal.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assertNever } from "../../primitives/assert.ts";
import { brandAs, type CustomerId, type FeatureKey, type Quantity } from "../../primitives/brand.ts";
import { checkTexts, refuseIfAny } from "../read-fields.ts";
import { toAnswer, toProblem } from "../reply.ts";
import { type Caller, runtimeRoute } from "../runtime-route.ts";
import { ReverseAnswer, ReverseBody, reverseParams } from "./schema.ts";

/** Reverses a charge. Resolves when the reversal is durable. Injected, because `manage` and `runtime` do not import each other. */
export type ReverseCharge = (
  where: Pick<Caller, "projectId" | "environmentId" | "cell"> & { readonly actor: Actor },
  reversal: Reversal,
  keyed: KeyedReversal,
) => Promise<KeyedReversalOutcome>;

/** Reverses a charge, or a part of it. */
export function reverseRoute(reverse: ReverseCharge) {
  return runtimeRoute({
    path: "/v1/consume/{consumeId}/reverse",
    scope: "reverse",
    operationId: "reverse",
    summary: "Reverse a charge",
    description:
      "Returns the credits of a charge from the last 35 days, for the whole request or for a `quantity`. Credits return to the grants they " +
      "came from and keep their expiry. The limit counter decreases. Never returns more than was charged. Repeating the reversal of a " +
      "whole charge returns the same response. A reversal of a `quantity` needs an `idempotencyKey`.",
    params: reverseParams,
    body: ReverseBody,
    answer: { description: "The charge is reversed.", ...ReverseAnswer },
    codes: [
      "charge_not_found",
      "charge_too_old",
      "nothing_to_reverse",
      "idempotency_key_reused",
      "balance_too_large",
      "ledger_detached",
      "upgrade_unfinished",
      "outcome_unknown",
    ],
    handle: async ({ key, requestId }, { params, body }) => {
      const { projectId, environmentId, cell } = key;
      const reversal = readReversal(params.consumeId, body);
      const actor: Actor = { kind: "api_key", id: String(key.id), requestId };
      const keyed = keyReversal(reversal, body.idempotencyKey ?? null);
      const outcome = await reverse({ projectId, environmentId, cell, actor }, reversal, keyed);
      if (outcome.kind !== "answered") throw refusalOf(outcome);
      return toAnswer(outcome, { customerId: reversal.customerId, items: [], hasItems: false });
    },
  });
}

function readReversal(consumeId: string, body: ReverseBody): Reversal {
  const { customerId, feature, quantity, idempotencyKey, note } = body;
  const errors: FieldError[] = checkTexts({ customerId }, ["customerId"]);
  if (feature !== undefined) errors.push(...checkTexts({ feature }, ["feature"]));
  if (note !== undefined) errors.push(...checkTexts({ note }, ["note"]));
  if (quantity === undefined) {
    if (feature !== undefined) errors.push(required("quantity", "with `feature`"));
    if (idempotencyKey !== undefined)
      errors.push({
        field: "idempotencyKey",
        code: "unknown_field",
        message: "is only allowed with `quantity`, because repeating the reversal of a whole charge is safe",
      });
  } else if (idempotencyKey === undefined) errors.push(required("idempotencyKey", "with `quantity`"));
  refuseIfAny(errors);
  const named = feature === undefined ? null : brandAs<FeatureKey>(feature);
  return {
    customerId: brandAs<CustomerId>(customerId),
    consumeId,
    part: quantity === undefined ? null : { feature: named, quantity: brandAs<Quantity>(quantity) },
    note: note ?? null,
  };
}

function required(field: string, when: string): FieldError {
  return { field, code: "required", message: `is required ${when}` };
}

function refusalOf(outcome: Exclude<KeyedReversalOutcome, { kind: "answered" }>): unknown {
  switch (outcome.kind) {
    case "key_reused":
      return toProblem(outcome);
    case "charge_not_found":
      return new Problem(outcome.kind, {
        detail: "This customer has no charge with this ID, or the charge does not include the feature.",
      });
    case "charge_too_old":
      return new Problem(outcome.kind, {
        detail: "An API key can reverse charges from the last 35 days. Nothing was changed.",
      });
    case "feature_required": {
      const error = required("feature", "because the request charged several items");
      return new Problem("invalid_request", { detail: `\`feature\` ${error.message}.`, errors: [error] });
    }
    case "nothing_left":
    case "too_much":
    case "balance_too_large":
      return reversalProblem(outcome);
    default:
      return assertNever(outcome);
  }
}
