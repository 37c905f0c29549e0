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
  "projectId" | "environmentId" | "environmentKind" | "cell" | "metadataLimits" | "historyDaysMax"
>;

/** A request's caller, and its span if it is traced. */
export type Asking = {
  readonly key: Caller;
  readonly requestId: string;
  readonly span: RequestSpan | null;
};

/** A caller with an API key, unlike a person who sends a request from the dashboard. */
type Authenticated = Asking & { readonly key: Pick<ApiKey, "id"> };

const CODES_OF_ALL = [
  "invalid_request",
  "api_key_missing",
  "api_key_invalid",
  "scope_missing",
  "browser_not_allowed",
  "tls_required",
  "rate_limited",
  "internal_error",
  "overloaded",
  "unavailable",
] as const satisfies readonly ProblemCode[];

const CODES_OF_BODIES = [
  "invalid_json",
  "body_too_large",
  "unsupported_media_type",
] as const satisfies readonly ProblemCode[];

/** The validated parts of a request. */
type Call<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
};

type RuntimeRoute<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly path: string;
  readonly scope: KeyScope;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: P;
  /** Only for a GET request. */
  readonly query?: Q;
  /** A route without a body is a GET route. */
  readonly body?: B;
  /** Set only if the limit differs from the default. */
  readonly bodyBytesMax?: number;
  /** The body schema for the OpenAPI document, if `body` validates only a part of the body. */
  readonly describedBody?: TSchema;
  readonly answer: TSchema & { readonly description: string };
  /** Problem codes in addition to `CODES_OF_ALL`. */
  readonly codes: readonly ProblemCode[];
  readonly handle: (caller: Authenticated, call: Call<P, Q, B>, request: FastifyRequest) => Promise<Answer>;
};

export function runtimeRoute<P extends TSchema, Q extends TSchema, B extends TSchema>(
  route: RuntimeRoute<P, Q, B>,
) {
  const { path, scope, operationId, summary, description, params, query, body, answer, handle } = route;
  const { bodyBytesMax, describedBody } = route;
  const codes = [...CODES_OF_ALL, ...(body === undefined ? [] : CODES_OF_BODIES), ...route.codes];
  return {
    method: body === undefined ? "GET" : "POST",
    url: path.replace(/\{(\w+)\}/g, ":$1"),
    config: { scope, ...(describedBody === undefined ? {} : { describedBody }) },
    ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
    schema: {
      operationId,
      tags: ["Runtime"],
      summary,
      description,
      security: [{ apiKey: [] }],
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
      response: { 200: answer, ...problemResponses(codes) },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { apiKey, id: requestId, span } = request;
      assert(apiKey !== null, "a runtime route is authenticated");
      const call = { params: request.params, query: request.query, body: request.body } as Call<P, Q, B>;
      return replyWithAnswer(reply, await handle({ key: apiKey, requestId, span }, call, request));
    },
  } as const;
}
