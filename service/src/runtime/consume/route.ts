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
      "Decides and charges in one durable step. When the answer is `allowed: true`, the credits are charged exactly once, even if you " +
      "repeat the request with the same key. Denials are stored under the key too, except `customer_not_found` and `no_active_plan`: " +
      "you can retry these two with the same key.",
    body: ConsumeBody,
    answer: { description: "Allowed and charged, or denied.", ...ConsumeAnswer },
    codes: ["feature_not_found", "idempotency_key_reused", "metadata_limit_exceeded", "outcome_unknown"],
    handle: (caller, body) => answerConsume(parts, caller, body),
  });
}
