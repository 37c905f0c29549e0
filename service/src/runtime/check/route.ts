import { type Static, Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  metadataField,
  quantityField,
} from "../../edge/request-fields.ts";
import { readConsumption } from "../consume/consume-feature.ts";
import { verdictFields } from "../consume/schema.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { type Answer, toCheckAnswer } from "../reply.ts";
import { type Caller, runtimeRoute } from "../runtime-route.ts";
import type { Reader } from "./reader.ts";

type CheckParts = { readonly readerOf: (cell: string) => Reader; readonly missing: FeatureFinder };

/** Spec 4.2: whether an action is available. Changes nothing, and promises nothing. */
export function checkRoute(parts: CheckParts) {
  return runtimeRoute({
    scope: "check",
    operationId: "check",
    summary: "Show whether an action is available",
    description:
      "Answers what a consume would answer now, and changes nothing. Use it to grey out a button; to do the work, consume.",
    body: CheckBody,
    answer: { description: "Available or not.", ...CheckAnswer },
    codes: ["feature_not_found"],
    handle: ({ key }, body) => answerCheck(parts, key, body),
  });
}

/** From a body that fits its schema to what the caller reads. What is a problem instead is thrown. */
export async function answerCheck(parts: CheckParts, caller: Caller, body: CheckBody): Promise<Answer> {
  const asked = readConsumption(body);
  const { environmentId, cell } = caller;
  const outcome = await parts.readerOf(cell).ask({ environmentId, ...asked });
  if (outcome.kind === "feature_not_found") throw await parts.missing(caller, asked.feature);
  return toCheckAnswer(outcome, asked);
}

/** Takes consume's other fields too, and ignores them, so that one object serves both. */
const CheckBody = Type.Object(
  {
    customerId: customerIdField("An unknown one is judged under the default plan, and not created."),
    feature: featureField,
    quantity: Type.Optional(quantityField),
    idempotencyKey: Type.Optional(
      idempotencyKeyField("Taken, so that one object serves check and consume, and ignored."),
    ),
    metadata: Type.Optional(metadataField),
  },
  {
    additionalProperties: false,
    examples: [{ customerId: "customer_42", feature: "image.generate", quantity: 1 }],
  },
);

type CheckBody = Static<typeof CheckBody>;

const CheckAnswer = Type.Object(verdictFields, { additionalProperties: false });
