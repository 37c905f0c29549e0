import { runtimeRoute } from "../runtime-route.ts";
import { answerConsume, type ConsumeParts } from "./consume-feature.ts";
import { ConsumeAnswer, ConsumeBody } from "./schema.ts";

/** Spec 4.3: authorizes and charges a feature. */
export function consumeRoute(parts: ConsumeParts) {
  return runtimeRoute({
    scope: "consume",
    operationId: "consume",
    summary: "Authorize and charge a feature",
    description:
      "Decides and charges in one durable step: when you read `allowed: true`, the credits are spent, once, however often you repeat " +
      "the request under its key. A denial is an answer too, and is kept under the key like any other, but for `customer_not_found` and " +
      "`no_active_plan`: those may be asked again under the same key.",
    body: ConsumeBody,
    answer: { description: "Allowed and charged, or denied.", ...ConsumeAnswer },
    codes: ["feature_not_found", "idempotency_key_reused", "metadata_limit_exceeded", "outcome_unknown"],
    handle: (caller, body) => answerConsume(parts, caller, body),
  });
}
