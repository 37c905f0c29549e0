import type { FastifyReply, FastifyRequest } from "fastify";
import { type ProblemCode, problemResponses } from "../../edge/problem-schema.ts";
import { assert } from "../../words/assert.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { replyWithAnswer } from "../reply.ts";
import { answerCheck } from "./answer-check.ts";
import type { Reader } from "./reader.ts";
import { CheckAnswer, CheckBody } from "./schema.ts";

const CODES = [
  "invalid_json",
  "invalid_request",
  "api_key_missing",
  "api_key_invalid",
  "scope_missing",
  "browser_not_allowed",
  "tls_required",
  "feature_not_found",
  "body_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "overloaded",
  "unavailable",
] as const satisfies readonly ProblemCode[];

/** Spec 4.2: whether an action is available. Changes nothing, and promises nothing. */
export function checkRoute(readerOf: (cell: string) => Reader, missing: FeatureFinder) {
  return {
    method: "POST",
    url: "/v1/check",
    config: { scope: "check" },
    schema: {
      operationId: "check",
      tags: ["Runtime"],
      summary: "Show whether an action is available",
      description:
        "Answers what a consume would answer now, and changes nothing. Use it to grey out a button; to do the work, consume.",
      security: [{ apiKey: [] }],
      body: CheckBody,
      response: { 200: { description: "Available or not.", ...CheckAnswer }, ...problemResponses(CODES) },
    },
    handler: async (
      request: FastifyRequest<{ Body: CheckBody }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const { apiKey, body } = request;
      assert(apiKey !== null, "a runtime route is authenticated");
      return replyWithAnswer(reply, await answerCheck({ readerOf, missing }, apiKey, body));
    },
  } as const;
}
