import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { assert } from "../primitives/assert.ts";
import { MANAGEMENT_TOKEN_PREFIX } from "../primitives/secret.ts";
import type { ApiKey, KeyScope } from "../store/control/api-keys.ts";
import { type ApiKeyCache, TooManyUnknownKeys } from "./api-key-cache.ts";
import { type ProxyTrust, refuseBrowsers, refusePlainHttp } from "./guard.ts";
import { Problem } from "./problem.ts";
import { type Limits, TokenBuckets } from "./token-bucket.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The scope that an API key needs for this route. */
    scope?: KeyScope;
  }
}

const BEARER = /^Bearer +(\S+)$/i;
const LIMITED_KEYS_MAX = 10_000;

type ItemLimit = (
  countOf: (body: unknown) => number,
) => (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/**
 * Rejects browsers and plain HTTP, and checks the API key, its scope and its rate limit before the body is read. Returns a
 * `preHandler` hook for routes whose body has several items. Each item counts as a request.
 */
export function admitRuntimeCallers(
  app: FastifyInstance,
  parts: { keys: ApiKeyCache; isTrustedProxy: ProxyTrust },
): ItemLimit {
  const buckets = new TokenBuckets<number>(LIMITED_KEYS_MAX);
  app.addHook("onRequest", (request, reply, done) => {
    refuseBrowsers(request);
    refusePlainHttp(request, parts.isTrustedProxy);
    const admit = (key: ApiKey): void => {
      // Set first, so that rejections below appear in the request log.
      request.apiKey = key;
      requireScope(key, scopeOf(request));
      limitRate(key, reply, buckets, (limits, nowMs) => buckets.take(key.id, limits, nowMs));
    };
    const found = authenticate(request, parts.keys);
    // Avoids a promise for cached keys, the usual case, because a promise costs a turn of the microtask queue.
    if (found instanceof Promise) found.then(admit).then(() => done(), done);
    else {
      admit(found);
      done();
    }
  });
  return (countOf) => (request, reply, done) => {
    const { apiKey: key } = request;
    assert(key !== null, "only admitted requests reach the item limit");
    // The request itself was counted as the first item.
    const more = countOf(request.body) - 1;
    limitRate(key, reply, buckets, (limits, nowMs) => buckets.takeAll(key.id, more, limits, nowMs));
    done();
  };
}

function scopeOf(request: FastifyRequest): KeyScope {
  const { scope } = request.routeOptions.config;
  if (scope === undefined) throw new Error(`${request.routeOptions.url} has no scope`);
  return scope;
}

/** Requires `Authorization: Bearer <API_KEY>`. The response does not reveal why a key is invalid. */
function authenticate(request: FastifyRequest, keys: ApiKeyCache): ApiKey | Promise<ApiKey> {
  const secret = BEARER.exec(request.headers.authorization ?? "")?.[1];
  if (secret === undefined) {
    throw new Problem("api_key_missing", { detail: "Send the `Authorization: Bearer <API key>` header." });
  }
  // The prefix alone identifies a management token, so the response reveals nothing about the token.
  if (secret.startsWith(MANAGEMENT_TOKEN_PREFIX)) {
    throw new Problem("api_key_invalid", {
      detail:
        "This is a management token. Send an API key, which begins with `pur_test_` or `pur_live_`; management tokens work on `/manage/v1`.",
    });
  }
  const found = keys.find(secret, performance.now());
  if (found instanceof Promise) return found.then(orNotValid, unreachable);
  return orNotValid(found);
}

/**
 * Gives each key a token bucket that holds one second's worth of requests and refills at the workspace's rate. Headers follow the
 * IETF draft on rate limit fields.
 */
function limitRate(
  { id, requestsPerSecondMax: rate }: ApiKey,
  reply: FastifyReply,
  buckets: TokenBuckets<number>,
  take: (limits: Limits, nowMs: number) => number | null,
): void {
  if (rate === null) return;
  const limits = { size: rate, perSecond: rate };
  const nowMs = performance.now();
  const left = take(limits, nowMs);
  // Exceeds one second only while the bucket is in deficit.
  const waitSeconds = Math.max(1, Math.ceil(buckets.waitMs(id, limits, nowMs) / 1_000));
  reply.header("ratelimit-policy", `"key-per-process";q=${rate};w=1`);
  reply.header("ratelimit", `"key-per-process";r=${Math.max(0, Math.floor(left ?? 0))};t=${waitSeconds}`);
  if (left !== null) return;
  throw new Problem("rate_limited", {
    detail: `This API key may make ${rate} requests a second on each Purser process.`,
    retryAfterSeconds: waitSeconds,
  });
}

function requireScope(key: ApiKey, scope: KeyScope): void {
  if (key.scopes.has(scope)) return;
  throw new Problem("scope_missing", { detail: `This API key lacks the \`${scope}\` scope.` });
}

function orNotValid(key: ApiKey | null): ApiKey {
  if (key === null) throw notValid();
  return key;
}

function notValid(): Problem {
  return new Problem("api_key_invalid", {
    detail:
      "The API key is unknown, revoked or expired. Check that you copied all of it, including its prefix.",
  });
}

function unreachable(error: unknown): never {
  if (error instanceof TooManyUnknownKeys) {
    throw new Problem("overloaded", {
      detail: "Too many unknown API keys are being looked up. Nothing was executed; try again.",
      retryAfterSeconds: 1,
    });
  }
  throw new Problem("unavailable", {
    detail: "The API key could not be looked up. Nothing was executed; try again.",
    retryAfterSeconds: 1,
  });
}
