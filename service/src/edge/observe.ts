import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { BatchCounts } from "../primitives/batch-counts.ts";
import type { ApiKey } from "../store/control/api-keys.ts";
import type { RequestLine } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { ProblemCode } from "./problem.ts";
import { readTraceId } from "./trace-id.ts";
import type { RequestSpan, Tracing } from "./tracing.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `admitRuntimeCallers`, before any handler of `/v1` runs. */
    apiKey: ApiKey | null;
    /** Null if tracing is off or the request is not sampled. */
    span: RequestSpan | null;
  }
  interface FastifyReply {
    /** The code of the returned problem, for the log and the metrics. */
    problemCode: ProblemCode | null;
    /** The reason for a denial. Null if the request was not denied. */
    denialReason: string | null;
    /** Null unless the request is a batch. */
    batchCounts: BatchCounts | null;
  }
}

type Observers = { readonly log: Logger; readonly metrics: Metrics; readonly tracing: Tracing | null };

/** Counts every response, sets its request ID header, logs errors, and traces requests if tracing is configured. */
export function observeRequests(app: FastifyInstance, { log, metrics, tracing }: Observers): void {
  app.decorateRequest("apiKey", null);
  app.decorateRequest("span", null);
  app.decorateRequest("principal", null);
  app.decorateRequest("scope", null);
  app.decorateRequest("admitAgain", null);
  app.decorateReply("problemCode", null);
  app.decorateReply("denialReason", null);
  app.decorateReply("batchCounts", null);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  tracing?.observe(app);
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unmatched";
    const { statusCode: status, problemCode: code, elapsedTime: durationMs } = reply;
    metrics.request({ route, status, code, durationMs });
    // Successes are logged at debug level, because logging would make up most of the work of a small request.
    const level = status >= 500 ? "warn" : status >= 400 ? "info" : "debug";
    if (log.isLevelEnabled(level)) {
      const line: RequestLine = {
        requestId: request.id,
        ...traceOf(request),
        method: request.method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        ...whereOf(request),
        ...(code === null ? {} : { code }),
      };
      log[level](line, "request");
    }
    done();
  });
}

function traceOf({ headers }: FastifyRequest): Pick<RequestLine, "traceId"> {
  const traceId = readTraceId(headers);
  return traceId === null ? {} : { traceId };
}

function whereOf({ apiKey, scope }: FastifyRequest): Pick<RequestLine, "projectId" | "environment"> {
  if (apiKey !== null) return { projectId: apiKey.projectId, environment: apiKey.environmentKind };
  return scope === null ? {} : { projectId: scope.projectId, environment: scope.environment };
}
