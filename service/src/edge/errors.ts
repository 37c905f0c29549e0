import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from "fastify";
import { toFieldErrors } from "./field-errors.ts";
import { refuseBrowsers } from "./guard.ts";
import { BODY_BYTES_MAX } from "./parse.ts";
import { PROBLEMS, Problem, replyWithProblem } from "./problem.ts";
import { RejectionThrottle } from "./rejection-throttle.ts";

/** Sends a problem response for every error that a request causes. */
export function answerErrors(
  app: FastifyInstance,
  { methodsOf, publicUrl }: { methodsOf: ReadonlyMap<string, string>; publicUrl: string | null },
): void {
  const throttle = new RejectionThrottle();
  app.setErrorHandler(async (error: FastifyError | Problem, request, reply) => {
    const problem = toProblem(error, request.routeOptions.bodyLimit);
    if (problem.code === "internal_error")
      request.log.error({ err: error, requestId: request.id }, "request failed");
    else if (problem.cause !== undefined)
      request.log.warn(
        { err: problem.cause, requestId: request.id, code: problem.code },
        "request not served",
      );
    // Outages are reported immediately. Other rejections may be delayed, including `overloaded`, because the caller may have
    // caused the overload.
    if (PROBLEMS[problem.code].status < 500 || problem.code === "overloaded")
      await throttle.hold(request, performance.now());
    return replyWithProblem(reply, problem, publicUrl);
  });
  // Rejects unknown paths and methods before the body is read, because the body is not needed.
  app.addHook("onRequest", (request, reply, done) =>
    request.is404 ? done(notFound(request, reply, methodsOf)) : done(),
  );
  app.setNotFoundHandler((request, reply) =>
    replyWithProblem(reply, notFound(request, reply, methodsOf), publicUrl),
  );
}

export function toProblem(error: FastifyError | Problem, bodyBytesMax = BODY_BYTES_MAX): Problem {
  if (error instanceof Problem) return error;
  if (error.validation !== undefined) return invalidRequest(error.validation);
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Problem("body_too_large", { detail: `A body may have at most ${bodyBytesMax} bytes.` });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Problem("unsupported_media_type", { detail: "Send `Content-Type: application/json`." });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Problem("invalid_request", {
        detail: "The body is shorter or longer than its Content-Length.",
      });
  }
  // The framework's own 4xx errors, such as for a malformed URL.
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new Problem("invalid_request", { detail: "The request could not be read." });
  }
  return internalError();
}

/** Validates a part of the body with its own schema. Throws a `Problem` if the part is invalid. */
export function refuseInvalid(request: FastifyRequest, schema: object, value: unknown): void {
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema);
  if (!validate(value)) throw invalidRequest(validate.errors ?? []);
}

function invalidRequest(found: readonly FastifySchemaValidationError[]): Problem {
  const errors = toFieldErrors(found);
  return new Problem("invalid_request", { detail: describe(errors), errors });
}

export function internalError(): Problem {
  return new Problem("internal_error", {
    detail: "An unexpected error occurred in Purser. With an idempotency key, it is safe to retry.",
  });
}

export function describe(errors: readonly { field: string; message: string }[]): string {
  const [first] = errors;
  if (first === undefined) return "The request is not valid.";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see \`errors\`)` : "";
  return `${first.field === "" ? "The body" : `\`${first.field}\``} ${first.message}${more}.`;
}

function notFound(
  request: FastifyRequest,
  reply: FastifyReply,
  methodsOf: ReadonlyMap<string, string>,
): Problem {
  const methods = methodsOf.get(request.url.split("?", 1)[0] ?? "");
  if (methods === undefined) {
    return new Problem("not_found", { detail: "See /docs/api/ for the available operations." });
  }
  // A browser's first call is a CORS preflight with OPTIONS, which no route accepts.
  refuseBrowsers(request);
  reply.header("allow", methods);
  return new Problem("method_not_allowed", { detail: `Use ${methods}.` });
}
