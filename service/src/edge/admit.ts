import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ApiKey, KeyScope } from "../store/control/api-keys.ts";
import type { ApiKeyCache } from "./api-key-cache.ts";
import { authenticate, requireScope } from "./authenticate.ts";
import { type ProxyTrust, refuseBrowsers, refusePlainHttp } from "./guard.ts";
import { TokenBuckets } from "./token-bucket.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The scope that an API key needs for this route. */
    scope?: KeyScope;
  }
}

/** Checks guards, API key, scope and rate limit, before the body is read. */
export function admitRuntimeCallers(
  app: FastifyInstance,
  parts: { keys: ApiKeyCache; isTrustedProxy: ProxyTrust },
): void {
  const buckets = new TokenBuckets();
  app.addHook("onRequest", (request, reply, done) => {
    refuseBrowsers(request);
    refusePlainHttp(request, parts.isTrustedProxy);
    const admit = (key: ApiKey): void => {
      // Set first, so that refusals below appear in the request log.
      request.apiKey = key;
      requireScope(key, scopeOf(request));
      buckets.take(key, reply, performance.now());
    };
    const found = authenticate(request, parts.keys);
    // Most keys are cached; a promise for each of those calls would cost a turn of the microtask queue.
    if (found instanceof Promise) found.then(admit).then(() => done(), done);
    else {
      admit(found);
      done();
    }
  });
}

function scopeOf(request: FastifyRequest): KeyScope {
  const { scope } = request.routeOptions.config;
  if (scope === undefined) throw new Error(`${request.routeOptions.url} has no scope`);
  return scope;
}
