import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { RequestLine } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Counts every reply, names its request id, and logs those that went wrong. */
export function observeRequests(app: FastifyInstance, log: Logger, metrics: Metrics): void {
  app.decorateRequest("apiKey", null);
  app.decorateReply("problemCode", null);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unmatched";
    const { statusCode: status, problemCode: code, elapsedTime: durationMs } = reply;
    metrics.request({ route, status, code, durationMs });
    // A line for each success would be most of the work of a small request: those are at debug.
    const level = status >= 500 ? "warn" : status >= 400 ? "info" : "debug";
    if (log.isLevelEnabled(level)) {
      const line: RequestLine = {
        requestId: request.id,
        method: request.method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(request.apiKey === null
          ? {}
          : { projectId: request.apiKey.projectId, environment: request.apiKey.environmentKind }),
        ...(code === null ? {} : { code }),
      };
      log[level](line, "request");
    }
    done();
  });
}
