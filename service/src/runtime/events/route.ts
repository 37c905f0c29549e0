import type { FastifyReply, FastifyRequest } from "fastify";
import { type ProblemCode, problemResponses } from "../../edge/problem-schema.ts";
import { assert } from "../../words/assert.ts";
import type { Lanes } from "../commit/lanes.ts";
import { replyWithAnswer, toAnswer } from "../reply.ts";
import { recordEvent } from "./record-event.ts";
import { EventAnswer, EventBody } from "./schema.ts";

const CODES = [
  "invalid_json",
  "invalid_request",
  "api_key_missing",
  "api_key_invalid",
  "scope_missing",
  "browser_not_allowed",
  "tls_required",
  "idempotency_key_reused",
  "body_too_large",
  "unsupported_media_type",
  "timestamp_out_of_range",
  "metadata_limit_exceeded",
  "rate_limited",
  "internal_error",
  "overloaded",
  "unavailable",
  "outcome_unknown",
] as const satisfies readonly ProblemCode[];

/** Spec 4.1: records usage without charging credits. */
export function eventsRoute(lanesOf: (cell: string) => Lanes) {
  return {
    method: "POST",
    url: "/v1/events",
    config: { scope: "events" },
    schema: {
      operationId: "recordEvent",
      tags: ["Runtime"],
      summary: "Record usage without charging credits",
      description:
        "Stores one usage event for reporting. It moves no credits and does not say whether the customer is entitled. " +
        "The event is stored when you read the answer.",
      security: [{ apiKey: [] }],
      body: EventBody,
      response: { 200: { description: "The event is stored.", ...EventAnswer }, ...problemResponses(CODES) },
    },
    handler: async (
      request: FastifyRequest<{ Body: EventBody }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const { apiKey, id: requestId } = request;
      assert(apiKey !== null, "a runtime route is authenticated");
      const outcome = await recordEvent(lanesOf(apiKey.cell), { key: apiKey, requestId }, request.body);
      assert(outcome.kind !== "feature_not_found", "an event names no feature");
      return replyWithAnswer(reply, toAnswer(outcome, null));
    },
  } as const;
}
