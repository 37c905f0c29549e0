import type { FastifyInstance } from "fastify";
import { forwardedProtocol, type ProxyTrust } from "./guard.ts";

export const NO_SNIFF = { "x-content-type-options": "nosniff" } as const;

/** A year, for this host alone. */
const HSTS = "max-age=31536000";

/** On every reply: browsers take a body for what it says it is, and come back by https where it came by https. */
export function protectReplies(
  app: FastifyInstance,
  { isTls, isTrustedProxy }: { isTls: boolean; isTrustedProxy: ProxyTrust },
): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(NO_SNIFF);
    if (isTls || forwardedProtocol(request, isTrustedProxy) === "https") {
      reply.header("strict-transport-security", HSTS);
    }
    done();
  });
}
