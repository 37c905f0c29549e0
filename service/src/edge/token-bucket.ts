import { BoundedMap } from "../primitives/bounded-map.ts";

type Bucket = { tokens: number; filledAtMs: number };
export type Limits = { readonly size: number; readonly perSecond: number };

/** One token bucket per key. Each bucket starts full. */
export class TokenBuckets<K> {
  readonly #buckets: BoundedMap<K, Bucket>;

  constructor(keysMax: number) {
    this.#buckets = new BoundedMap(keysMax);
  }

  /** Takes a token and returns how many tokens are left. Null if the bucket is empty. */
  take(key: K, limits: Limits, nowMs: number): number | null {
    const bucket = this.#refill(key, limits, nowMs);
    if (bucket.tokens < 1) return null;
    bucket.tokens -= 1;
    return bucket.tokens;
  }

  /**
   * Takes `count` tokens, even if fewer are left. The bucket is then in deficit until it refills. Returns how many tokens are left.
   * If the bucket is already in deficit, takes none and returns null.
   */
  takeAll(key: K, count: number, limits: Limits, nowMs: number): number | null {
    const bucket = this.#refill(key, limits, nowMs);
    if (bucket.tokens < 0) return null;
    bucket.tokens -= count;
    return bucket.tokens;
  }

  /** Milliseconds until a token can be taken. */
  waitMs(key: K, limits: Limits, nowMs: number): number {
    const { tokens } = this.#refill(key, limits, nowMs);
    return Math.max(0, ((1 - tokens) / limits.perSecond) * 1_000);
  }

  #refill(key: K, { size, perSecond }: Limits, nowMs: number): Bucket {
    const bucket = this.#buckets.find(key) ?? { tokens: size, filledAtMs: nowMs };
    const refilled = ((nowMs - bucket.filledAtMs) / 1_000) * perSecond;
    bucket.tokens = Math.min(size, bucket.tokens + refilled);
    bucket.filledAtMs = nowMs;
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
