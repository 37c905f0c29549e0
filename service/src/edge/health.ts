import { createServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Metrics } from "./metrics.ts";

/** Ready until the process stops. Does not depend on the database, because its failure affects every replica alike. */
export class Readiness {
  isStopping = false;

  get status(): 200 | 503 {
    return this.isStopping ? 503 : 200;
  }

  get text(): string {
    return this.isStopping ? "stopping\n" : "ok\n";
  }
}

export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get("/livez", { schema: { hide: true } }, () => "ok\n");
  app.get("/readyz", { schema: { hide: true } }, (_request, reply) =>
    reply.code(readiness.status).send(readiness.text),
  );
}

/** Health and metrics on a separate port, which can stay private. */
export function createHealthServer(readiness: Readiness, metrics: Metrics): Server {
  return createServer(async (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    switch (request.url) {
      case "/livez":
        response.end("ok\n");
        return;
      case "/readyz":
        response.statusCode = readiness.status;
        response.end(readiness.text);
        return;
      case "/metrics":
        response.setHeader("content-type", metrics.contentType);
        response.end(await metrics.print());
        return;
      default:
        response.statusCode = 404;
        response.end("not found\n");
    }
  });
}
