import type { FastifyReply } from "fastify";
import { BoundedMap } from "../primitives/bounded-map.ts";
import type { ApiKey } from "../store/control/api-keys.ts";
import { Problem } from "./problem.ts";

type Bucket = { tokens: number; filledAtMs: number };

const KEYS_MAX = 10_000;

/** One bucket per API key and process. It holds one second's worth of requests and refills at the plan's rate. */
export class TokenBuckets {
  readonly #buckets = new BoundedMap<number, Bucket>(KEYS_MAX);

  /** Takes a token, or throws. Headers follow the IETF draft on rate limit fields. */
  take(key: ApiKey, reply: FastifyReply, nowMs: number): void {
    const rate = key.requestsPerSecondMax;
    if (rate === null) return;
    const bucket = this.#refill(key.id, rate, nowMs);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    reply.header("ratelimit-policy", `"key-per-process";q=${rate};w=1`);
    reply.header("ratelimit", `"key-per-process";r=${Math.floor(bucket.tokens)};t=1`);
    if (isAllowed) return;
    throw new Problem("rate_limited", {
      detail: `This API key may make ${rate} requests a second on each Purser process.`,
      retryAfterSeconds: 1,
    });
  }

  #refill(id: number, rate: number, nowMs: number): Bucket {
    const bucket = this.#buckets.find(id);
    if (bucket === undefined) {
      const full = { tokens: rate, filledAtMs: nowMs };
      this.#buckets.set(id, full);
      return full;
    }
    bucket.tokens = Math.min(rate, bucket.tokens + ((nowMs - bucket.filledAtMs) / 1000) * rate);
    bucket.filledAtMs = nowMs;
    return bucket;
  }
}
