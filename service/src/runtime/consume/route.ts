import type { FastifyReply, FastifyRequest } from "fastify";
import { type ProblemCode, problemResponses } from "../../edge/problem-schema.ts";
import { assert } from "../../words/assert.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { replyWithAnswer } from "../reply.ts";
import { answerConsume } from "./answer-consume.ts";
import { ConsumeAnswer, ConsumeBody } from "./schema.ts";

const CODES = [
  "invalid_json",
  "invalid_request",
  "api_key_missing",
  "api_key_invalid",
  "scope_missing",
  "browser_not_allowed",
  "tls_required",
  "feature_not_found",
  "idempotency_key_reused",
  "body_too_large",
  "unsupported_media_type",
  "metadata_limit_exceeded",
  "rate_limited",
  "internal_error",
  "overloaded",
  "unavailable",
  "outcome_unknown",
] as const satisfies readonly ProblemCode[];

/** Spec 4.3: authorizes and charges a feature. */
export function consumeRoute(lanesOf: (cell: string) => Lanes, missing: FeatureFinder) {
  return {
    method: "POST",
    url: "/v1/consume",
    config: { scope: "consume" },
    schema: {
      operationId: "consume",
      tags: ["Runtime"],
      summary: "Authorize and charge a feature",
      description:
        "Decides and charges in one durable step: when you read `allowed: true`, the credits are spent, once, however often you repeat " +
        "the request under its key. A denial is an answer too, and is kept under the key like any other, but for `customer_not_found` and " +
        "`no_active_plan`: those may be asked again under the same key.",
      security: [{ apiKey: [] }],
      body: ConsumeBody,
      response: {
        200: { description: "Allowed and charged, or denied.", ...ConsumeAnswer },
        ...problemResponses(CODES),
      },
    },
    handler: async (
      request: FastifyRequest<{ Body: ConsumeBody }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const { apiKey, id: requestId, body } = request;
      assert(apiKey !== null, "a runtime route is authenticated");
      const answer = await answerConsume({ lanesOf, missing }, { key: apiKey, requestId }, body);
      return replyWithAnswer(reply, answer);
    },
  } as const;
}
