import type { ApiKey } from "../store/control/api-keys.ts";
import { BoundedMap } from "../words/bounded-map.ts";
import { isWellFormedApiKey } from "../words/secret.ts";

export type ApiKeySource = {
  find(secret: string): Promise<ApiKey | null>;
  touch(ids: readonly number[]): Promise<void>;
};

/** Served without asking, but asked about in the background. */
const FRESH_MS = 2_000;
/** Beyond this nothing is served unasked; with the time of one look-up it keeps a revocation within 5 s. */
const STALE_MS = 4_000;
/** While the control database is out of reach, a key this process has seen is trusted for this long. */
const GRACE_MS = 3_600_000;
const LOOKUP_TIMEOUT_MS = 800;
/** Few enough that a refresh behind them waits some 100 ms at most, enough for a start with many projects calling. */
const FIRST_LOOKUPS_MAX = 256;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;

/** After a failed look-up, calls are served from memory for this long before the database is asked again. */
const RETRY_MS = 1_000;

type Entry = {
  readonly key: ApiKey;
  readonly readAtMs: number;
  readonly expiresAtMs: number;
  askAgainAtMs: number;
  failedAtMs: number;
  lookup: Promise<void> | null;
};

/**
 * Which keys are live, without a query per request. Unknown keys are remembered too, and both are bounded. Keyed by the
 * secret as it came, which saves a hash per request; it is in this process's memory anyway.
 */
export class ApiKeyCache {
  readonly #source: ApiKeySource;
  readonly #known = new BoundedMap<string, Entry>(KNOWN_MAX);
  readonly #unknown = new BoundedMap<string, number>(UNKNOWN_MAX);
  readonly #used = new Set<number>();
  readonly #first = new Map<string, Promise<ApiKey | null>>();

  constructor(source: ApiKeySource) {
    this.#source = source;
  }

  /** A live key at once, or a promise when the database has to be asked. Rejects when it cannot be. */
  find(secret: string, nowMs: number): ApiKey | null | Promise<ApiKey | null> {
    const entry = this.#known.find(secret);
    if (entry === undefined) {
      // A typo is refused without a look-up, and only what could be a key is ever remembered.
      if (!isWellFormedApiKey(secret)) return null;
      const unknownSinceMs = this.#unknown.find(secret);
      if (unknownSinceMs !== undefined && nowMs - unknownSinceMs < STALE_MS) return null;
      return this.#findFirst(secret);
    }
    if (nowMs < entry.askAgainAtMs) return this.#use(entry, nowMs);
    const lookup = this.#refresh(secret, entry);
    if (canServeMeanwhile(entry, nowMs)) {
      lookup.catch(() => {});
      return this.#use(entry, nowMs);
    }
    return lookup.then(() => this.#useAfterLookup(secret));
  }

  /** Writes who was used since the last call. */
  async flushLastUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const ids = [...this.#used];
    this.#used.clear();
    await this.#source.touch(ids);
  }

  #use(entry: Entry, nowMs: number): ApiKey | null {
    if (nowMs >= entry.expiresAtMs) return null;
    this.#used.add(entry.key.id);
    return entry.key;
  }

  #useAfterLookup(secret: string): ApiKey | null {
    const entry = this.#known.find(secret);
    return entry === undefined ? null : this.#use(entry, performance.now());
  }

  /** Concurrent first uses of a key share one look-up. */
  #findFirst(secret: string): Promise<ApiKey | null> {
    const running = this.#first.get(secret);
    if (running !== undefined) return running;
    // Anyone can make up keys that look right; they must not keep the known ones from being looked up.
    if (this.#first.size >= FIRST_LOOKUPS_MAX)
      return Promise.reject(new Error("too many unknown keys at once"));
    const lookup = this.#ask(secret)
      .then(() => this.#useAfterLookup(secret))
      .finally(() => this.#first.delete(secret));
    this.#first.set(secret, lookup);
    return lookup;
  }

  #refresh(secret: string, entry: Entry): Promise<void> {
    entry.lookup ??= this.#ask(secret)
      .catch((error: unknown) => {
        entry.failedAtMs = performance.now();
        entry.askAgainAtMs = entry.failedAtMs + RETRY_MS;
        if (entry.failedAtMs - entry.readAtMs < GRACE_MS) return;
        // Neither valid nor invalid: nobody knows any more.
        this.#known.delete(secret);
        throw error;
      })
      .finally(() => {
        entry.lookup = null;
      });
    return entry.lookup;
  }

  async #ask(secret: string): Promise<void> {
    const askedAtMs = performance.now();
    const key = await withTimeout(this.#source.find(secret), LOOKUP_TIMEOUT_MS);
    if (key === null) {
      this.#known.delete(secret);
      this.#unknown.set(secret, askedAtMs);
      return;
    }
    this.#unknown.delete(secret);
    const expiresAtMs = key.expiresInMs === null ? Number.POSITIVE_INFINITY : askedAtMs + key.expiresInMs;
    const askAgainAtMs = askedAtMs + FRESH_MS;
    this.#known.set(secret, {
      key,
      readAtMs: askedAtMs,
      expiresAtMs,
      askAgainAtMs,
      failedAtMs: Number.NEGATIVE_INFINITY,
      lookup: null,
    });
  }
}

/** Just read; or the database was out of reach a moment ago, and what was true within the last hour still counts. */
function canServeMeanwhile(entry: Entry, nowMs: number): boolean {
  const ageMs = nowMs - entry.readAtMs;
  return ageMs < STALE_MS || (nowMs - entry.failedAtMs < STALE_MS && ageMs < GRACE_MS);
}

function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the control database did not answer in time")), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
