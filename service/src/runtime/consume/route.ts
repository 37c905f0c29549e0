import type { FieldError } from "../../edge/problem.ts";
import {
  type Consumption,
  type ConsumptionItem,
  fingerprintConsumption,
  type HoldDuration,
  QUANTITY_DEFAULT,
} from "../../entitlement/consumption.ts";
import { hashKey } from "../../entitlement/key-hash.ts";
import {
  brandAs,
  type CustomerId,
  type FeatureKey,
  type IdempotencyKey,
  type Quantity,
} from "../../primitives/brand.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { Outcome } from "../commit/request.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { checkTexts, readMemberId, readMetadata, refuseIfAny } from "../read-fields.ts";
import { type Answer, toAnswer } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";
import { ConsumeAnswer, ConsumeBody, type QuestionBody } from "./schema.ts";

export type ConsumeParts = { readonly lanesOf: (cell: string) => Lanes; readonly missing: FeatureFinder };

/** Authorizes and charges a feature. */
export function consumeRoute(parts: ConsumeParts) {
  return runtimeRoute({
    path: "/v1/consume",
    scope: "consume",
    operationId: "consume",
    summary: "Authorize and charge a feature",
    description:
      "Decides and charges the request in one durable step. When the response is `allowed: true`, the credits are charged exactly once, even if you " +
      "repeat the request with the same key. Denials are stored under the key too, except `customer_not_found` and `no_active_plan`. " +
      "You can retry these two denials with the same key.",
    body: ConsumeBody,
    answer: { description: "Whether the request was allowed and charged, or denied.", ...ConsumeAnswer },
    codes: [
      "feature_not_found",
      "idempotency_key_reused",
      "upgrade_unfinished",
      "metadata_limit_exceeded",
      "outcome_unknown",
    ],
    handle: (caller, { body }) => answerConsume(parts, caller, body),
  });
}

/** Returns the response to a validated body, or throws a `Problem`. */
export async function answerConsume(
  parts: ConsumeParts,
  caller: Asking,
  body: ConsumeBody,
  duration: HoldDuration | null = null,
): Promise<Answer> {
  const consumption = readConsumption(body);
  const lanes = parts.lanesOf(caller.key.cell);
  const asked = { consumption, duration, idempotencyKey: body.idempotencyKey };
  const outcome = await consumeFeature(lanes, caller, asked);
  if (outcome.kind === "feature_not_found") throw await parts.missing(caller.key, outcome.feature);
  return toAnswer(outcome, consumption);
}

type AskedToConsume = {
  readonly consumption: Consumption;
  /** If null, the request charges immediately. */
  readonly duration: HoldDuration | null;
  readonly idempotencyKey: string;
};

/** Charges features, or holds the credits for them. Resolves when the outcome is durable. */
export function consumeFeature(
  lanes: Lanes,
  caller: Asking,
  { consumption, duration, idempotencyKey }: AskedToConsume,
): Promise<Outcome> {
  const { projectId, environmentId, metadataLimits } = caller.key;
  return lanes.submit({
    endpoint: duration === null ? "consume" : "holds",
    projectId,
    environmentId,
    customerId: consumption.customerId,
    requestId: caller.requestId,
    span: caller.span,
    keyed: {
      projectId,
      key: brandAs<IdempotencyKey>(idempotencyKey),
      keyHash: hashKey(idempotencyKey),
      fingerprint: fingerprintConsumption(consumption, duration),
    },
    consumption,
    duration,
    metadataLimits,
  });
}

/** Reads a validated body, and checks what the JSON schema cannot express. */
export function readConsumption(body: QuestionBody): Consumption {
  const errors = checkTexts({ customerId: body.customerId }, ["customerId"]);
  const items = readItems(body, errors);
  const memberId = readMemberId(body.memberId, errors);
  const metadata = readMetadata(body.metadata, errors);
  refuseIfAny(errors);
  return {
    customerId: brandAs<CustomerId>(body.customerId),
    items,
    hasItems: body.items !== undefined,
    memberId,
    metadata,
  };
}

/** Reads the items: either `feature` and `quantity`, or `items`. */
function readItems(body: QuestionBody, errors: FieldError[]): ConsumptionItem[] {
  const { feature, quantity, items } = body;
  if (items === undefined) {
    if (feature === undefined) errors.push({ field: "feature", code: "required", message: "is required" });
    else errors.push(...checkTexts({ feature }, ["feature"]));
    return [toItem({ feature: feature ?? "", quantity })];
  }
  if (feature !== undefined || quantity !== undefined)
    errors.push({
      field: feature === undefined ? "quantity" : "feature",
      code: "unknown_field",
      message: "cannot be combined with `items`",
    });
  checkFeatures(items, errors);
  return items.map(toItem);
}

/** Reports invalid feature keys, and features that occur more than once. */
export function checkFeatures(items: readonly { feature: string }[], errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const field = `items.${index}.feature`;
    errors.push(...checkTexts({ [field]: item.feature }, [field]));
    if (seen.has(item.feature))
      errors.push({ field, code: "wrong_form", message: "occurs in an earlier item" });
    seen.add(item.feature);
  }
}

export function toItem({
  feature,
  quantity,
}: {
  feature: string;
  quantity?: number | undefined;
}): ConsumptionItem {
  return {
    feature: brandAs<FeatureKey>(feature),
    quantity: brandAs<Quantity>(quantity ?? QUANTITY_DEFAULT),
  };
}
