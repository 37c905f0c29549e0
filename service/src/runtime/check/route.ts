import { type Static, Type } from "typebox";
import {
  customerIdField,
  idempotencyKeyField,
  memberIdField,
  metadataField,
} from "../../edge/request-fields.ts";
import { readConsumption } from "../consume/route.ts";
import { CheckAnswer, questionFields } from "../consume/schema.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { type Answer, toCheckAnswer } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";
import type { Reader } from "./reader.ts";

type CheckParts = { readonly readerOf: (cell: string) => Reader; readonly missing: FeatureFinder };

/** Returns whether an action is available. Changes and reserves nothing. */
export function checkRoute(parts: CheckParts) {
  return runtimeRoute({
    path: "/v1/check",
    scope: "check",
    operationId: "check",
    summary: "Show whether an action is available",
    description:
      "Returns what a consume request would return now, and changes nothing. Use it to show whether a feature is available. To authorize the work, call consume.",
    body: CheckBody,
    answer: { description: "Whether the action is available.", ...CheckAnswer },
    codes: ["feature_not_found"],
    handle: (caller, { body }) => answerCheck(parts, caller, body),
  });
}

/** Returns the response to a validated body, or throws a `Problem`. */
export async function answerCheck(
  parts: CheckParts,
  { key, span }: Omit<Asking, "requestId">,
  body: CheckBody,
): Promise<Answer> {
  const asked = readConsumption(body);
  const { environmentId, cell } = key;
  const outcome = await parts.readerOf(cell).ask({ environmentId, ...asked, span });
  if (outcome.kind === "feature_not_found") throw await parts.missing(key, outcome.feature);
  return toCheckAnswer(outcome, asked);
}

/** Accepts and ignores the other fields of a consume request, so that callers can send the same body to both endpoints. */
const CheckBody = Type.Object(
  {
    customerId: customerIdField(
      "For an unknown customer, the default plan applies. The customer is not created.",
    ),
    ...questionFields,
    idempotencyKey: Type.Optional(
      idempotencyKeyField("Accepted and ignored, so that you can send the same body to check and consume."),
    ),
    memberId: Type.Optional(memberIdField("Accepted and ignored, because a check records nothing.")),
    metadata: Type.Optional(metadataField),
  },
  {
    additionalProperties: false,
    examples: [{ customerId: "customer_42", feature: "image.generate", quantity: 1 }],
  },
);

type CheckBody = Static<typeof CheckBody>;
