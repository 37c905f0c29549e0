import { Problem } from "../../edge/problem.ts";
import { BoundedMap } from "../../words/bounded-map.ts";

/** A password check takes a core for 30 ms and more: one at a time leaves the others to the runtime API. */
const AT_ONCE_MAX = 1;
const WAITING_MAX = 10;
/**
 * Wrong guesses in a minute before whoever made them has to wait: for one email from one address, from one address, and
 * for one email from everywhere, which is high enough that few strangers keep a member out.
 */
const GUESSES_MAX = { pair: 5, address: 20, email: 50 } as const;
const WINDOW_MS = 60_000;
const REMEMBERED_MAX = 10_000;

type Guesses = { count: number; readonly sinceMs: number };

/** Keeps guessing slow, and keeps it from taking the processor. Per process, as the runtime's rates are. */
export class LogInGuard {
  readonly #guesses = new BoundedMap<string, Guesses>(REMEMBERED_MAX);
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs a check of a password, and counts it if it finds the guess wrong. */
  async guard<T>(
    who: { email: string; address: string },
    nowMs: number,
    check: () => Promise<T | null>,
  ): Promise<T | null> {
    const keys = [
      { key: `pair ${who.address} ${who.email}`, max: GUESSES_MAX.pair },
      { key: `address ${who.address}`, max: GUESSES_MAX.address },
      { key: `email ${who.email}`, max: GUESSES_MAX.email },
    ];
    for (const { key, max } of keys) this.#refuseGuesser(key, max, nowMs);
    // Counted before it is checked: many at once must not all be let in.
    for (const { key } of keys) this.#count(key, nowMs, 1);
    const found = await this.#inTurn(check);
    if (found !== null) for (const { key } of keys) this.#count(key, nowMs, -1);
    return found;
  }

  #refuseGuesser(key: string, max: number, nowMs: number): void {
    const guesses = this.#guesses.find(key);
    if (guesses === undefined || guesses.count < max) return;
    const waitMs = guesses.sinceMs + WINDOW_MS - nowMs;
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1_000));
  }

  #count(key: string, nowMs: number, change: number): void {
    const guesses = this.#guesses.find(key);
    if (guesses === undefined || guesses.sinceMs + WINDOW_MS <= nowMs) {
      if (change > 0) this.#guesses.set(key, { count: change, sinceMs: nowMs });
    } else guesses.count += change;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw tooMany(1);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      // The turn goes over to who waited longest; nobody who comes just now takes it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function tooMany(retryAfterSeconds: number): Problem {
  return new Problem("rate_limited", {
    detail: "Too many attempts to log in. Wait a little, then try again.",
    retryAfterSeconds,
  });
}
