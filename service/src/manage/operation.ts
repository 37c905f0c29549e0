import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Access } from "../edge/admit-managers.ts";
import { toProblem } from "../edge/errors.ts";
import { addressOf } from "../edge/guard.ts";
import { ANONYMOUS_BODY_BYTES_MAX, BODY_BYTES_MAX } from "../edge/parse.ts";
import type { Principal } from "../edge/principal.ts";
import { type ProblemCode, problemResponses } from "../edge/problem.ts";
import type { Actor } from "../primitives/actor.ts";
import { assert } from "../primitives/assert.ts";
import type { Scope } from "../store/control/scopes.ts";
import type { Context } from "./context.ts";
import { reportDatabaseErrors } from "./database-trouble.ts";
import { strictObject } from "./fields.ts";

/** One authenticated and validated call to an operation. */
export type Call<P = unknown, Q = unknown, B = unknown> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/** One operation of the management API: path, access, schemas and handler. */
export type Operation = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly access: Access;
  readonly id: string;
  readonly noun: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that the operation uses, such as If-Match. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** Overrides the default body limit. */
  readonly bodyBytesMax?: number;
  /** Called with the sender's address when the request body is invalid. May throw another problem to return instead. */
  readonly onMalformed?: (address: string) => void;
  /** Set if the operation streams a CSV request body. `body` is then used only for documentation. */
  readonly takesCsv?: true;
  readonly answer: TSchema;
  /** The schema for each media type, if the response is a streamed file. */
  readonly files?: Readonly<Record<string, TSchema>>;
  /** Set if the operation answers a browser with a redirect. The handler returns the address. */
  readonly redirects?: true;
  /** Problem codes beyond those common to all operations. */
  readonly codes?: readonly ProblemCode[];
  readonly handle: (call: Call<never, never, never>) => Promise<unknown>;
};

type Shape<S> = S extends TSchema ? Static<S> : undefined;

/** Infers the handler's types from the schemas. */
export function operation<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  definition: Omit<Operation, "params" | "query" | "body" | "answer" | "handle"> & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    readonly answer: A;
    readonly handle: (call: Call<Shape<P>, Shape<Q>, Shape<B>>) => Promise<Static<A>>;
  },
): Operation {
  return definition as unknown as Operation;
}

/** An operation that returns a file. */
export function fileOperation<P extends TObject, Q extends TObject>(
  definition: Omit<Operation, "params" | "query" | "answer" | "handle"> & {
    readonly params: P;
    readonly query: Q;
    readonly files: Readonly<Record<string, TSchema>>;
    readonly handle: (call: Call<Static<P>, Static<Q>, undefined>) => Promise<Readable>;
  },
): Operation {
  return { ...definition, answer: Type.String() } as unknown as Operation;
}

/** An operation for browsers that redirects to the address that `handle` returns. */
export function redirectOperation<Q extends TObject>(
  definition: Omit<Operation, "query" | "answer" | "redirects" | "handle"> & {
    readonly query: Q;
    readonly handle: (call: Call<undefined, Static<Q>, undefined>) => Promise<string>;
  },
): Operation {
  return { ...definition, redirects: true, answer: Type.Null() } as unknown as Operation;
}

export const ENVIRONMENT_PATH = "/manage/v1/projects/:projectId/:environment";
export const PROJECT_PATH = "/manage/v1/projects/:projectId";

export const projectParams = {
  projectId: Type.String({ description: "The project's ID.", examples: ["1"] }),
};

export const environmentParams = {
  ...projectParams,
  environment: Type.Enum(["test", "live"], { description: "One of the project's two environments." }),
};

const CODES_OF_ALL = [
  "invalid_request",
  "tls_required",
  "internal_error",
  "overloaded",
  "unavailable",
] as const;
const CODES_OF_BODIES = ["invalid_json", "body_too_large", "unsupported_media_type"] as const;
const CODES_OF_FILES = ["body_too_large", "unsupported_media_type"] as const;

const NO_QUERY = strictObject({});

/** Builds the Fastify route for an operation. */
export function toRoute(operation: Operation): RouteOptions {
  const { method, path, access, params, query, body, takesCsv, answer, files, redirects, handle } = operation;
  const bodyLimit =
    operation.bodyBytesMax ?? (access === "anyone" ? ANONYMOUS_BODY_BYTES_MAX : BODY_BYTES_MAX);
  const codes: ProblemCode[] = [
    ...CODES_OF_ALL,
    ...(method === "GET" ? [] : (["origin_not_allowed", "outcome_unknown"] as const)),
    ...(body === undefined ? [] : takesCsv === true ? CODES_OF_FILES : CODES_OF_BODIES),
    ...(access === "anyone" ? [] : (["sign_in_required"] as const)),
    ...(typeof access === "string" ? [] : (["role_missing"] as const)),
    ...(typeof access !== "string" && access.managesAccess === true ? (["capability_missing"] as const) : []),
    ...(hasScope(access) ? (["not_found"] as const) : []),
    ...(operation.codes ?? []),
  ];
  return {
    method,
    url: path,
    config: { access },
    // A HEAD request must not generate the whole file, or begin what a redirect continues.
    ...(files === undefined && redirects === undefined ? {} : { exposeHeadRoute: false }),
    bodyLimit,
    ...(operation.onMalformed === undefined ? {} : { errorHandler: reportMalformed(operation.onMalformed) }),
    schema: {
      operationId: operation.id,
      tags: [operation.noun],
      summary: operation.summary,
      description: `${operation.description}\n\n${describeAccess(access)}`,
      security: access === "anyone" ? [] : [{ managementToken: [] }, { session: [] }],
      ...(params === undefined ? {} : { params }),
      querystring: query ?? NO_QUERY,
      ...(operation.headers === undefined ? {} : { headers: operation.headers }),
      ...(body === undefined
        ? {}
        : { body: takesCsv === true ? { content: { "text/csv": { schema: body } } } : body }),
      response: {
        [redirects === true ? 302 : 200]:
          files === undefined
            ? { description: redirects === true ? "Redirects the browser." : "Success.", ...answer }
            : {
                description: "The file.",
                content: Object.fromEntries(
                  Object.entries(files).map(([type, schema]) => [type, { schema }]),
                ),
              },
        ...problemResponses([...new Set(codes)]),
      },
    },
    handler: async (request, reply) => {
      const { params, query, body } = request;
      const call = { params, query, body, request, reply } as Call<never, never, never>;
      const answered = await reportDatabaseErrors(() => handle(call));
      return redirects === true ? reply.redirect(String(answered)) : reply.send(answered);
    },
  };
}

const MALFORMED: ReadonlySet<ProblemCode> = new Set([...CODES_OF_BODIES, "invalid_request"]);

/** Calls `onMalformed` if the request body is invalid, then rethrows the error for the server's error handler. */
function reportMalformed(onMalformed: (address: string) => void): NonNullable<RouteOptions["errorHandler"]> {
  return (error, request) => {
    if (MALFORMED.has(toProblem(error).code)) onMalformed(addressOf(request));
    throw error;
  };
}

function hasScope(access: Access): boolean {
  return typeof access !== "string" && (access.in === "project" || access.in === "environment");
}

function describeAccess(access: Access): string {
  if (access === "anyone") return "No authentication is required.";
  if (access === "signed_in") return "Requires a logged-in member or a valid token.";
  const capability = access.managesAccess === true ? " A token must have `managesAccess`." : "";
  return `Requires the \`${access.role}\` role${WHERE[access.in]}.${capability}`;
}

const WHERE = {
  workspace: " in the whole workspace",
  project: " in both environments of the project",
  environment: "",
  anywhere: " in the workspace or in any project",
} as const satisfies Record<Exclude<Access, string>["in"], string>;

export function principalOf({ request }: Call): Principal {
  assert(request.principal !== null, "an authenticated operation has a principal");
  return request.principal;
}

export function scopeOf({ request }: Call): Scope {
  assert(request.scope !== null, "an operation in a project or environment has a scope");
  return request.scope;
}

/** Throws if the caller's session, token or role has become invalid since the call began. */
export async function admitAgain({ request }: Call): Promise<void> {
  assert(request.admitAgain !== null, "an operation that requires a role can check access again");
  await request.admitAgain();
}

export function actorOf(call: Call): Actor {
  const { kind, id } = principalOf(call);
  return { kind, id: String(id), requestId: call.request.id };
}

export function contextOf(call: Call): Context {
  const { projectId, environmentId } = scopeOf(call);
  return { projectId, environmentId, actor: actorOf(call) };
}
