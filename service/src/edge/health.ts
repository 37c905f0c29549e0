import { createServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { assert } from "../primitives/assert.ts";
import type { Metrics } from "./metrics.ts";

/**
 * The process is ready until it stops or becomes outdated. By default, readiness does not depend on the database, because an outage
 * affects every replica equally. `?database=10` also requires a successful round trip to the database within the last 10 seconds.
 */
export class Readiness {
  isStopping = false;
  /** Set when a newer release has finished its upgrade, because this process can then no longer use the database. */
  isOutdated = false;
  #reachedDatabaseAtMs = performance.now();

  reachedDatabase(): void {
    this.#reachedDatabaseAtMs = performance.now();
  }

  /** `url` is a path with an optional query. */
  read(url: string): { status: 200 | 400 | 503; text: string } {
    if (this.isStopping) return { status: 503, text: "stopping\n" };
    if (this.isOutdated) return { status: 503, text: "the database has data from a newer release\n" };
    const secondsMax = new URL(url, "http://localhost").searchParams.get("database");
    if (secondsMax === null) return { status: 200, text: "ok\n" };
    if (!/^[1-9]\d{0,3}$/.test(secondsMax)) return { status: 400, text: "database: 1 to 9999 seconds\n" };
    const seconds = (performance.now() - this.#reachedDatabaseAtMs) / 1_000;
    if (seconds <= Number(secondsMax)) return { status: 200, text: "ok\n" };
    return { status: 503, text: `no response from the database for ${Math.floor(seconds)} s\n` };
  }
}

export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get("/livez", { schema: { hide: true } }, () => "ok\n");
  app.get("/readyz", { schema: { hide: true } }, (request, reply) => {
    const { status, text } = readiness.read(request.url);
    return reply.code(status).send(text);
  });
}

/** Serves health and metrics on a separate port, which can stay private. */
export function createHealthServer(readiness: Readiness, metrics: Metrics): Server {
  return createServer(async (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    const { url = "" } = request;
    switch (url.split("?", 1)[0]) {
      case "/livez":
        response.end("ok\n");
        return;
      case "/readyz": {
        const { status, text } = readiness.read(url);
        response.statusCode = status;
        response.end(text);
        return;
      }
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

/** Opens the port and returns the server's URL. */
export function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      assert(address !== null && typeof address === "object", "a server that listens has an address");
      resolve(`http://${host}:${address.port}`);
    });
  });
}
