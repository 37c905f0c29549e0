import { hashKey } from "../../entitlement/key-hash.ts";
import { fingerprintEvent } from "../../entitlement/usage-event.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type IdempotencyKey } from "../../primitives/brand.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { Outcome } from "../commit/request.ts";
import { toAnswer } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";
import { readEvent } from "./read-event.ts";
import { EventAnswer, EventBody } from "./schema.ts";

/** Records usage without charging credits. */
export function eventsRoute(lanesOf: (cell: string) => Lanes) {
  return runtimeRoute({
    path: "/v1/events",
    scope: "events",
    operationId: "recordEvent",
    summary: "Record usage without charging credits",
    description:
      "Stores one usage event for reporting. An event changes no balance, and the response does not show whether the customer is entitled. " +
      "The event is stored before the response is sent.",
    body: EventBody,
    answer: { description: "The event is stored.", ...EventAnswer },
    codes: [
      "idempotency_key_reused",
      "timestamp_out_of_range",
      "upgrade_unfinished",
      "metadata_limit_exceeded",
      "outcome_unknown",
    ],
    handle: async (caller, { body }) => {
      const outcome = await recordEvent(lanesOf(caller.key.cell), caller, body);
      assert(outcome.kind !== "feature_not_found", "an event names no feature");
      return toAnswer(outcome, null);
    },
  });
}

/** Resolves when the outcome is durable. */
function recordEvent(lanes: Lanes, caller: Asking, body: EventBody): Promise<Outcome> {
  const event = readEvent(body);
  const { projectId, environmentId, metadataLimits } = caller.key;
  const keyed =
    body.idempotencyKey === undefined
      ? null
      : {
          projectId,
          key: brandAs<IdempotencyKey>(body.idempotencyKey),
          keyHash: hashKey(body.idempotencyKey),
          fingerprint: fingerprintEvent(event),
        };
  return lanes.submit({
    endpoint: "events",
    projectId,
    environmentId,
    customerId: event.customerId,
    requestId: caller.requestId,
    span: caller.span,
    keyed,
    event,
    metadataLimits,
  });
}
