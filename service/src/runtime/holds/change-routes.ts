import type { FieldError } from "../../edge/problem.ts";
import { type ConsumptionItem, canonicalItems } from "../../entitlement/consumption.ts";
import { fingerprint } from "../../entitlement/fingerprint.ts";
import { brandAs, type CustomerId, type Quantity } from "../../primitives/brand.ts";
import { parseHoldId } from "../../primitives/hold-id.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { HoldAction } from "../commit/request.ts";
import { checkFeatures, toItem } from "../consume/route.ts";
import { checkTexts, readMetadata, readTime, refuseIfAny } from "../read-fields.ts";
import { type Answer, toHoldAnswer, toProblem } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";
import { ClosedAnswer, ExtendAnswer, ExtendBody, holdParams, ReleaseBody, SettleBody } from "./schema.ts";

type LanesOf = (cell: string) => Lanes;

const CODES_OF_ENDS = [
  "hold_not_found",
  "hold_settled",
  "hold_released",
  "hold_expired",
  "outcome_unknown",
] as const;

/** Charges for the quantity that was used, and releases the remaining credits. */
export function settleHoldRoute(lanesOf: LanesOf) {
  return runtimeRoute({
    path: "/v1/holds/{holdId}/settle",
    scope: "consume",
    operationId: "settleHold",
    summary: "Settle a hold with the quantity used",
    description:
      "Charges for the quantity that was actually used, and releases the remaining credits. A settlement is never denied, because the work is done. " +
      "If the price exceeds the hold, the excess is taken from the customer's other credits, then from overage. Any amount that neither covers is " +
      "returned as `creditsUncovered`. " +
      "Repeating the same settlement returns the same response and charges nothing. A different settlement returns `hold_settled`. A hold that expired and released its " +
      "credits can be settled up to 35 days after its expiry. The response then has `late: true`.",
    params: holdParams,
    body: SettleBody,
    answer: { description: "The hold is settled.", ...ClosedAnswer },
    codes: [...CODES_OF_ENDS, "hold_items_mismatch", "metadata_limit_exceeded"],
    handle: (caller, { params, body }) =>
      changeHold(lanesOf, caller, { ...params, ...body }, readSettlement(body)),
  });
}

/** Releases all credits of a hold. */
export function releaseHoldRoute(lanesOf: LanesOf) {
  return runtimeRoute({
    path: "/v1/holds/{holdId}/release",
    scope: "consume",
    operationId: "releaseHold",
    summary: "Release a hold",
    description:
      "For work that was not done. Releases all credits of the hold and charges nothing. Repeating the release returns the same response.",
    params: holdParams,
    body: ReleaseBody,
    answer: { description: "The hold is released.", ...ClosedAnswer },
    codes: CODES_OF_ENDS,
    handle: (caller, { params, body }) => {
      refuseIfAny(checkTexts(body, ["customerId"]));
      return changeHold(lanesOf, caller, { ...params, ...body }, { kind: "release", fingerprint: RELEASE });
    },
  });
}

const RELEASE = fingerprint([["action", '"release"']]);

/** Increases a hold's quantity or extends its expiry. */
export function extendHoldRoute(lanesOf: LanesOf) {
  return runtimeRoute({
    path: "/v1/holds/{holdId}/extend",
    scope: "consume",
    operationId: "extendHold",
    summary: "Increase a hold's quantity or extend its expiry",
    description:
      "Sets a new total quantity or a later expiry. Never reduces the quantity or shortens the expiry, so it is safe to repeat. If the new " +
      "total is denied, the response has `allowed: false` and the hold does not change. Only for holds on one feature.",
    params: holdParams,
    body: ExtendBody,
    answer: { description: "The current state of the hold.", ...ExtendAnswer },
    codes: [...CODES_OF_ENDS, "hold_items_mismatch", "hold_too_long"],
    handle: (caller, { params, body }) =>
      changeHold(lanesOf, caller, { ...params, ...body }, readExtension(body)),
  });
}

/** Resolves when the change is durable. */
async function changeHold(
  lanesOf: LanesOf,
  { key, requestId, span }: Asking,
  { holdId, customerId }: { readonly holdId: string; readonly customerId: string },
  action: HoldAction,
): Promise<Answer> {
  const hold = parseHoldId(holdId);
  if (hold === null) throw toProblem({ kind: "hold_not_found" });
  const { projectId, environmentId, metadataLimits } = key;
  const sender = { projectId, environmentId, requestId, span, metadataLimits };
  const outcome = await lanesOf(key.cell).submit({
    ...sender,
    endpoint: "hold_change",
    customerId: brandAs<CustomerId>(customerId),
    keyed: null,
    hold,
    action,
  });
  return toHoldAnswer(outcome, { holdId, customerId });
}

export function readSettlement(body: SettleBody): HoldAction {
  const { quantity, items, atMostHeld = false } = body;
  const errors = checkTexts({ customerId: body.customerId }, ["customerId"]);
  if (quantity !== undefined && items !== undefined) errors.push(notBoth("quantity", "items"));
  checkFeatures(items ?? [], errors);
  const metadata = readMetadata(body.metadata, errors);
  refuseIfAny(errors);
  const used = items?.map(toItem) ?? (quantity === undefined ? null : brandAs<Quantity>(quantity));
  return {
    kind: "settle",
    used,
    atMostHeld,
    metadata,
    fingerprint: fingerprint([
      ["action", '"settle"'],
      ["atMostHeld", atMostHeld ? "true" : null],
      ["items", items === undefined ? null : canonicalItems(usedItems(items.map(toItem)))],
      ["quantity", quantity === undefined ? null : String(quantity)],
    ]),
  };
}

/** Sorts the items and drops unused ones, because neither the order nor unused items affect a settlement. */
function usedItems(items: readonly ConsumptionItem[]): ConsumptionItem[] {
  return items.filter(({ quantity }) => quantity > 0).sort((a, b) => (a.feature < b.feature ? -1 : 1));
}

function readExtension(body: ExtendBody): HoldAction {
  const errors = checkTexts({ customerId: body.customerId }, ["customerId"]);
  const { quantity, expiresInSeconds } = body;
  if (body.expiresAt !== undefined && expiresInSeconds !== undefined)
    errors.push(notBoth("expiresAt", "expiresInSeconds"));
  const at = readTime("expiresAt", body.expiresAt, errors);
  refuseIfAny(errors);
  const expiresAt = expiresInSeconds === undefined ? at : { inMs: expiresInSeconds * 1_000 };
  return { kind: "extend", quantity: quantity === undefined ? null : brandAs<Quantity>(quantity), expiresAt };
}

function notBoth(field: string, other: string): FieldError {
  return { field, code: "unknown_field", message: `cannot be combined with \`${other}\`` };
}
