import { BoundedMap } from "../primitives/bounded-map.ts";

type Bucket = { tokens: number; filledAtMs: number };
type Limits = { readonly size: number; readonly perSecond: number };

/** One token bucket per key. Each bucket starts full. */
export class TokenBuckets<K> {
  readonly #buckets: BoundedMap<K, Bucket>;

  constructor(keysMax: number) {
    this.#buckets = new BoundedMap(keysMax);
  }

  /** Takes a token and returns how many are left. Null if the bucket is empty. */
  take(key: K, { size, perSecond }: Limits, nowMs: number): number | null {
    const bucket = this.#buckets.find(key) ?? { tokens: size, filledAtMs: nowMs };
    const refilled = ((nowMs - bucket.filledAtMs) / 1_000) * perSecond;
    bucket.tokens = Math.min(size, bucket.tokens + refilled);
    bucket.filledAtMs = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return null;
    bucket.tokens -= 1;
    return bucket.tokens;
  }
}
