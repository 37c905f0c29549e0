import type { FastifyInstance } from "fastify";
import { forwardedProtocol, type ProxyTrust } from "./guard.ts";

export const NO_SNIFF = { "x-content-type-options": "nosniff" } as const;

/** One year, for this host only. */
const HSTS = "max-age=31536000";

/** Adds `nosniff` to every reply, and HSTS to every reply sent over HTTPS. */
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
