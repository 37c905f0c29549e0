import type { FastifyReply } from "fastify";
import { type TObjectOptions, Type } from "typebox";

/** Every error that the API returns. Codes are stable. Each code has a page under docs/errors. */
export const PROBLEMS = {
  invalid_json: { status: 400, title: "The body is not valid JSON" },
  invalid_request: { status: 400, title: "The request is not valid" },
  api_key_missing: { status: 401, title: "An API key is required" },
  api_key_invalid: { status: 401, title: "The API key is not valid" },
  sign_in_required: { status: 401, title: "A session or management token is required" },
  second_factor_required: { status: 401, title: "A second factor is required" },
  second_factor_setup_required: { status: 401, title: "A second factor must be set up" },
  second_factor_invalid: { status: 401, title: "The second factor is not valid" },
  credentials_invalid: { status: 401, title: "The email or password is incorrect" },
  scope_missing: { status: 403, title: "The API key is not allowed to use this endpoint" },
  role_missing: { status: 403, title: "Your role does not allow this" },
  sso_required: { status: 403, title: "Single sign-on is required" },
  capability_missing: { status: 403, title: "The token lacks a required capability" },
  recent_log_in_required: { status: 403, title: "A recent login is required" },
  origin_not_allowed: { status: 403, title: "The request came from another site" },
  browser_not_allowed: { status: 403, title: "Purser must not be called from a browser" },
  tls_required: { status: 403, title: "HTTPS is required" },
  not_found: { status: 404, title: "Not found" },
  feature_not_found: { status: 404, title: "The feature does not exist" },
  hold_not_found: { status: 404, title: "The hold does not exist" },
  charge_not_found: { status: 404, title: "The charge does not exist" },
  method_not_allowed: { status: 405, title: "The path does not support this method" },
  idempotency_key_reused: { status: 409, title: "The idempotency key was used for another request" },
  reference_reused: { status: 409, title: "The reference was already used for different credits" },
  already_exists: { status: 409, title: "The name is already in use" },
  catalog_too_large: { status: 409, title: "The catalog would be too large" },
  in_use: { status: 409, title: "The resource is still in use" },
  last_owner: { status: 409, title: "A workspace needs at least one owner" },
  last_passkey: { status: 409, title: "Your role requires at least one passkey" },
  passkey_missing: { status: 409, title: "A passkey is required first" },
  passkey_unavailable: { status: 409, title: "Passkeys cannot be used here" },
  ledger_detached: { status: 409, title: "A required ledger month is detached" },
  would_shorten: { status: 409, title: "The request would shorten the plan" },
  anchor_fixed: { status: 409, title: "The anchor of an active plan cannot change" },
  upgrade_unfinished: { status: 409, title: "The Purser upgrade is not finished" },
  hold_settled: { status: 409, title: "The hold is already settled" },
  hold_released: { status: 409, title: "The hold is already released" },
  hold_expired: { status: 409, title: "The hold has expired" },
  nothing_to_reverse: { status: 409, title: "The quantity can no longer be reversed" },
  not_undoable: { status: 409, title: "The change cannot be undone" },
  nothing_to_move: { status: 409, title: "The grant has no credits to move" },
  link_invalid: { status: 410, title: "The link has been used, has expired or does not exist" },
  second_factor_expired: { status: 410, title: "The second step of the login has expired" },
  changed_meanwhile: { status: 412, title: "The resource has changed since you read it" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The body must be application/json" },
  timestamp_out_of_range: { status: 422, title: "The timestamp is too far in the past or future" },
  charge_too_old: { status: 422, title: "The charge is too old to be reversed" },
  metadata_limit_exceeded: { status: 422, title: "The metadata exceeds a workspace limit" },
  unknown_key: { status: 422, title: "The request refers to something that does not exist" },
  no_running_period: { status: 422, title: "The plan has no current period" },
  ends_in_the_past: { status: 422, title: "The end time is in the past" },
  hold_items_mismatch: { status: 422, title: "The request does not match the hold's features" },
  hold_too_long: { status: 422, title: "The hold would last too long" },
  too_many_holds: { status: 422, title: "The customer has too many open holds" },
  too_many_grants: { status: 422, title: "The customer has too many open grants" },
  grant_not_movable: { status: 422, title: "The grant cannot be moved to another customer" },
  too_many_tokens: { status: 422, title: "You have created too many active tokens" },
  too_many_passkeys: { status: 422, title: "You have too many passkeys" },
  passkey_invalid: { status: 422, title: "The passkey is not valid" },
  too_many_webhooks: { status: 422, title: "The environment has too many webhooks" },
  balance_too_large: { status: 422, title: "The balance would become too large" },
  total_too_large: { status: 422, title: "A total is too large to be exact" },
  rate_limited: { status: 429, title: "Too many requests" },
  internal_error: { status: 500, title: "Purser failed to handle the request" },
  overloaded: { status: 503, title: "Purser is overloaded, and the request was not executed" },
  unavailable: { status: 503, title: "Purser cannot serve the request right now" },
  precondition_required: { status: 428, title: "An If-Match header is required" },
  outcome_unknown: { status: 503, title: "The outcome of the request is unknown" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export type FieldError = { readonly field: string; readonly code: string; readonly message: string };

type ProblemDetails = {
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** Additional members, such as `conflict` for a reused key. */
  readonly extra?: Readonly<Record<string, string | number | object>>;
  readonly retryAfterSeconds?: number;
  /** The underlying error, for the log only. */
  readonly cause?: unknown;
};

/** Thrown by guards and operations. `errors.ts` converts it into a response. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails) {
    super(details.detail, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** Sends a problem as the response. `publicUrl` is the `PUBLIC_URL` setting, or null if it is not set. */
export function replyWithProblem(
  reply: FastifyReply,
  problem: Problem,
  publicUrl: string | null,
): FastifyReply {
  const { status } = PROBLEMS[problem.code];
  const { retryAfterSeconds } = problem.details;
  if (retryAfterSeconds !== undefined) reply.header("retry-after", retryAfterSeconds);
  if (status === 401) reply.header("www-authenticate", "Bearer");
  reply.problemCode = problem.code;
  const text = renderProblem(problem, { requestId: reply.request.id, publicUrl });
  return reply.code(status).header("content-type", "application/problem+json").send(text);
}

/** Renders the body of the response. */
export function renderProblem(
  { code, details }: Problem,
  { requestId, publicUrl }: { requestId: string; publicUrl: string | null },
): string {
  const { status, title } = PROBLEMS[code];
  const { detail, errors, extra } = details;
  return JSON.stringify({
    // Every installation serves the error pages of its own release. The URL is relative if `PUBLIC_URL` is not set.
    type: `${publicUrl ?? ""}/docs/errors/${code}`,
    title,
    status,
    detail,
    code,
    requestId,
    ...(errors === undefined ? {} : { errors }),
    ...extra,
  });
}

/** The OpenAPI responses for a route that may return these problems, grouped by status. */
export function problemResponses(codes: readonly ProblemCode[]): Record<number, object> {
  const responses: Record<number, object> = {};
  for (const [status, group] of Map.groupBy(codes, (code) => PROBLEMS[code].status))
    responses[status] = problemResponse(status, group);
  return responses;
}

/** Cached, because most routes have the same responses. Rebuilding them for every route took a seventh of the startup time. */
const cachedResponses = new Map<string, object>();

function problemResponse(status: number, codes: readonly ProblemCode[]): object {
  const key = codes.join();
  const response = cachedResponses.get(key) ?? {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
    content: { "application/problem+json": { schema: problemSchema(status, codes) } },
  };
  cachedResponses.set(key, response);
  return response;
}

const conflictField = Type.Enum(["payload", "endpoint", "environment"], {
  description: "How the request differs from the earlier request with this idempotency key.",
});

const secondFactorField = Type.Object(
  {
    token: Type.String({ description: "Identifies this login. Valid for 5 minutes." }),
    publicKey: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description:
        "The options of `navigator.credentials.get`, or of `create` for `second_factor_setup_required`, in the JSON format of Web " +
        "Authentication. Null if passkeys cannot be used at this address.",
    }),
  },
  { description: "Data for the second step of the login." },
);

/** `status` is null for a problem inside a 200 response, such as the error of one event in a batch. */
export function problemSchema(
  status: number | null,
  codes: readonly ProblemCode[],
  options: TObjectOptions = {},
) {
  const fields = {
    type: Type.String({
      description:
        "The page that explains this error: an absolute URL if the installation has a `PUBLIC_URL`, otherwise a path.",
    }),
    title: Type.String(),
    status: status === null ? Type.Integer() : Type.Literal(status),
    detail: Type.String({ description: "A message for people. Do not parse it." }),
    code: Type.Enum([...codes], { description: "A stable code for programs." }),
    requestId: Type.String({ description: "The request ID, which is also in the `X-Request-Id` header." }),
    ...(codes.includes("invalid_request")
      ? {
          errors: Type.Optional(
            Type.Array(Type.Object({ field: Type.String(), code: Type.String(), message: Type.String() })),
          ),
        }
      : {}),
    ...(codes.includes("metadata_limit_exceeded")
      ? {
          limit: Type.Optional(
            Type.Enum(["bytes", "keys", "depth"], { description: "Which limit was exceeded." }),
          ),
          max: Type.Optional(Type.Integer()),
          actual: Type.Optional(Type.Integer()),
        }
      : {}),
    ...(codes.includes("second_factor_required") ? { secondFactor: Type.Optional(secondFactorField) } : {}),
    ...(codes.includes("idempotency_key_reused")
      ? { conflict: codes.length === 1 ? conflictField : Type.Optional(conflictField) }
      : {}),
  };
  return Type.Object(fields, options);
}
