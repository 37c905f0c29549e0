import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { type ProblemCode, problemResponses } from "../edge/problem.ts";
import type { RequestSpan } from "../edge/tracing.ts";
import { assert } from "../primitives/assert.ts";
import type { ApiKey, KeyScope } from "../store/control/api-keys.ts";
import { type Answer, replyWithAnswer } from "./reply.ts";

/** The parts of an API key that are needed after authentication. */
export type Caller = Pick<
  ApiKey,
  "projectId" | "environmentId" | "environmentKind" | "cell" | "metadataLimits"
>;

/** A request's caller, and its span if it is traced. */
export type Asking = {
  readonly key: Caller;
  readonly requestId: string;
  readonly span: RequestSpan | null;
};

const CODES_OF_ALL = [
  "invalid_json",
  "invalid_request",
  "api_key_missing",
  "api_key_invalid",
  "scope_missing",
  "browser_not_allowed",
  "tls_required",
  "body_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "overloaded",
  "unavailable",
] as const satisfies readonly ProblemCode[];

type RuntimeRoute<B extends TSchema> = {
  /** The name of the endpoint, which is also the last part of the path. */
  readonly scope: KeyScope;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: B;
  readonly answer: TSchema & { readonly description: string };
  /** Problem codes in addition to `CODES_OF_ALL`. */
  readonly codes: readonly ProblemCode[];
  readonly handle: (caller: Asking, body: Static<B>) => Promise<Answer>;
};

export function runtimeRoute<B extends TSchema>(route: RuntimeRoute<B>) {
  const { scope, operationId, summary, description, body, answer, codes, handle } = route;
  return {
    method: "POST",
    url: `/v1/${scope}`,
    config: { scope },
    schema: {
      operationId,
      tags: ["Runtime"],
      summary,
      description,
      security: [{ apiKey: [] }],
      body,
      response: { 200: answer, ...problemResponses([...CODES_OF_ALL, ...codes]) },
    },
    handler: async (
      request: FastifyRequest<{ Body: Static<B> }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const { apiKey, id: requestId, span } = request;
      assert(apiKey !== null, "a runtime route is authenticated");
      return replyWithAnswer(
        reply,
        await handle({ key: apiKey, requestId, span }, request.body as Static<B>),
      );
    },
  } as const;
}
