import { HOLD_DURATION_DEFAULT, type HoldDuration } from "../../entitlement/consumption.ts";
import { answerConsume, type ConsumeParts } from "../consume/route.ts";
import { runtimeRoute } from "../runtime-route.ts";
import { HoldAnswer, HoldBody } from "./schema.ts";

/** Sets credits aside for work whose cost is not known yet. */
export function openHoldRoute(parts: ConsumeParts) {
  return runtimeRoute({
    path: "/v1/holds",
    scope: "consume",
    operationId: "openHold",
    summary: "Set credits aside for work",
    description:
      "For work whose cost is known only afterward. Decides like consume, but sets credits aside instead of charging them. No other " +
      "request can spend these credits. Settle the hold with the quantity that was actually used. A hold counts toward limits immediately, and expires at " +
      "`expiresAt`. A customer can have at most 1,000 open holds.",
    body: HoldBody,
    answer: { description: "Whether the credits were set aside.", ...HoldAnswer },
    codes: [
      "feature_not_found",
      "idempotency_key_reused",
      "upgrade_unfinished",
      "too_many_holds",
      "metadata_limit_exceeded",
      "outcome_unknown",
    ],
    handle: (caller, { body }) => answerConsume(parts, caller, body, readDuration(body)),
  });
}

/** Reads the hold's duration and expiry action from a validated body. */
export function readDuration({
  expiresInSeconds,
  onExpiry,
}: Pick<HoldBody, "expiresInSeconds" | "onExpiry">): HoldDuration {
  const { expiresInMs } = HOLD_DURATION_DEFAULT;
  return {
    expiresInMs: expiresInSeconds === undefined ? expiresInMs : expiresInSeconds * 1_000,
    onExpiry: onExpiry ?? HOLD_DURATION_DEFAULT.onExpiry,
  };
}
