import { BoundedMap } from "../primitives/bounded-map.ts";
import { isWellFormedApiKey } from "../primitives/secret.ts";
import type { ApiKey } from "../store/control/api-keys.ts";

export type ApiKeySource = {
  /** Returns the valid keys, by their index in `secrets`. */
  find(secrets: readonly string[]): Promise<ReadonlyMap<number, ApiKey>>;
  touch(ids: readonly number[]): Promise<void>;
  /** Whether a lookup failed because no connection could be opened. False if the database was only slow. */
  isOutOfReach(error: unknown): boolean;
};

/** Keys older than this are still served from memory, and are refreshed in the background. */
const FRESH_MS = 2_000;
/** Keys older than this are looked up before use, so that a revocation takes effect within 5 s. */
const STALE_MS = 4_000;
/** How long a request waits for a lookup. The lookup itself continues, and its result is cached. */
const WAIT_MS = 800;
/** Maximum number of new keys that wait for a lookup. Enough for a process that starts while many projects send requests. */
const FIRST_LOOKUPS_MAX = 2_048;
const FIRST_LOOKUPS_PER_STATEMENT = 512;
/** With two statements, a slow one does not block all lookups. Must be lower than the number of connections in the pool. */
const FIRST_STATEMENTS_AT_ONCE = 2;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;

/** Pause after a failed lookup of a known key. */
const RETRY_MS = 1_000;

type Entry = {
  readonly key: ApiKey;
  /** When the query was sent. A revocation may have happened before the query returned. */
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
  askAgainAtMs: number;
  /** When the last lookup failed to open a connection. -Infinity if it succeeded or failed for another reason. */
  outOfReachAtMs: number;
};

/** Thrown if too many new keys wait for a lookup, because anyone can generate keys with a valid format. */
export class TooManyUnknownKeys extends Error {
  override readonly name = "TooManyUnknownKeys";
}

/** A new key that waits for its first lookup. */
type AwaitingLookup = { readonly secret: string } & Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

/**
 * Bounded cache of valid and unknown keys, so that most requests need no query. Keyed by the plain secret, which saves a hash per
 * request. Requests hold the secret in memory anyway.
 */
export class ApiKeyCache {
  readonly #source: ApiKeySource;
  readonly #graceMs: number;
  readonly #known = new BoundedMap<string, Entry>(KNOWN_MAX);
  readonly #unknown = new BoundedMap<string, number>(UNKNOWN_MAX);
  readonly #used = new Set<number>();
  /** At most one lookup per key runs at a time, so that an older response never replaces a newer one. */
  readonly #lookups = new Map<string, Promise<void>>();
  readonly #awaitingFirstLookup: AwaitingLookup[] = [];
  #firstStatements = 0;

  /** `graceMs` is how long a known key is trusted while the database is unreachable. */
  constructor(source: ApiKeySource, { graceMs }: { graceMs: number }) {
    this.#source = source;
    this.#graceMs = graceMs;
  }

  /**
   * Returns the key, or null if it is invalid. If a lookup is needed, returns a promise, which rejects if the database does not
   * respond.
   */
  find(secret: string, nowMs: number): ApiKey | null | Promise<ApiKey | null> {
    const entry = this.#known.find(secret);
    if (entry === undefined) {
      // A malformed key is rejected without a lookup, and never cached.
      if (!isWellFormedApiKey(secret)) return null;
      const unknownSinceMs = this.#unknown.find(secret);
      if (unknownSinceMs !== undefined && nowMs - unknownSinceMs < STALE_MS) return null;
      return this.#findNewKey(secret);
    }
    if (!this.#isTrusted(entry, nowMs)) return this.#waitFor(secret, this.#lookUp(secret));
    if (nowMs >= entry.askAgainAtMs) this.#lookUp(secret).catch(() => {});
    return this.#use(entry, nowMs);
  }

  /** Updates the last-used time of keys used since the previous call. */
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

  /** Whether the key was looked up recently. While the database is unreachable, a key is trusted until its grace period ends. */
  #isTrusted(entry: Entry, nowMs: number): boolean {
    const ageMs = nowMs - entry.askedAtMs;
    return ageMs < STALE_MS || (nowMs - entry.outOfReachAtMs < STALE_MS && ageMs < this.#graceMs);
  }

  #findNewKey(secret: string): Promise<ApiKey | null> {
    const running = this.#lookups.get(secret);
    if (running !== undefined) return this.#waitFor(secret, running);
    if (this.#awaitingFirstLookup.length >= FIRST_LOOKUPS_MAX) {
      return Promise.reject(new TooManyUnknownKeys("too many unknown keys at once"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#awaitingFirstLookup.push({ secret, resolve, reject });
    const lookup = promise.finally(() => this.#lookups.delete(secret));
    this.#lookups.set(secret, lookup);
    if (this.#firstStatements < FIRST_STATEMENTS_AT_ONCE) void this.#lookUpNewKeys();
    return this.#waitFor(secret, lookup);
  }

  /** Looks up new keys in a few large statements, so that made-up keys cannot delay the refresh of known keys. */
  async #lookUpNewKeys(): Promise<void> {
    this.#firstStatements += 1;
    while (this.#awaitingFirstLookup.length > 0) {
      const some = this.#awaitingFirstLookup.splice(0, FIRST_LOOKUPS_PER_STATEMENT);
      try {
        await this.#ask(some.map(({ secret }) => secret));
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.#firstStatements -= 1;
  }

  async #waitFor(secret: string, lookup: Promise<void>): Promise<ApiKey | null> {
    const failure = await withTimeout(lookup, WAIT_MS).then(
      () => null,
      (error: unknown) => error,
    );
    const entry = this.#known.find(secret);
    const nowMs = performance.now();
    if (entry !== undefined && this.#isTrusted(entry, nowMs)) return this.#use(entry, nowMs);
    if (failure !== null) throw failure;
    if (entry === undefined) return null;
    throw new Error("the control database answered too late");
  }

  /** Looks up a known key again. Concurrent uses of a key share one lookup. */
  #lookUp(secret: string): Promise<void> {
    const running = this.#lookups.get(secret);
    if (running !== undefined) return running;
    const lookup = this.#ask([secret]).finally(() => this.#lookups.delete(secret));
    this.#lookups.set(secret, lookup);
    return lookup;
  }

  async #ask(secrets: readonly string[]): Promise<void> {
    const askedAtMs = performance.now();
    try {
      const live = await this.#source.find(secrets);
      for (const [index, secret] of secrets.entries())
        this.#remember(secret, live.get(index) ?? null, askedAtMs);
    } catch (error) {
      const nowMs = performance.now();
      for (const secret of secrets) {
        const entry = this.#known.find(secret);
        if (entry === undefined) continue;
        entry.askAgainAtMs = nowMs + RETRY_MS;
        entry.outOfReachAtMs = this.#source.isOutOfReach(error) ? nowMs : Number.NEGATIVE_INFINITY;
      }
      throw error;
    }
  }

  #remember(secret: string, key: ApiKey | null, askedAtMs: number): void {
    if (key === null) {
      this.#known.delete(secret);
      this.#unknown.set(secret, askedAtMs);
      return;
    }
    this.#unknown.delete(secret);
    this.#known.set(secret, {
      key,
      askedAtMs,
      expiresAtMs: key.expiresInMs === null ? Number.POSITIVE_INFINITY : askedAtMs + key.expiresInMs,
      askAgainAtMs: askedAtMs + FRESH_MS,
      outOfReachAtMs: Number.NEGATIVE_INFINITY,
    });
  }
}

/** Rejects after the timeout. The work itself continues. */
function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the control database did not answer in time")), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
