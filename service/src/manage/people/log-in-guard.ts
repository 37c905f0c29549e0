import { Problem } from "../../edge/problem.ts";
import { networkOf } from "../../primitives/network.ts";

/** Maximum number of concurrent password checks. A check occupies a CPU core for 30 ms or more, which slows down the runtime API. */
const AT_ONCE_MAX = 1;
/** Maximum number of waiting attempts, for known and unknown devices separately. */
const WAITING_MAX = 10;
/** Maximum number of logins per window by one member from one device or network. Each login costs a password check and an audit row. */
const LOG_INS_MAX = 10;
const WINDOW_MS = 60_000;
/**
 * Maximum number of keys in a counter. A window has no time for this many password checks, so only malformed attempts can fill a counter.
 */
const REMEMBERED_MAX = 10_000;

export type Attempt = {
  readonly email: string;
  readonly address: string;
  /** A device or session that used this member's password before. Null if the device is unknown. */
  readonly known: string | null;
};

/**
 * Slows down password guessing and limits its CPU use. Each process counts separately, as with the runtime's rate limits.
 *
 * - Attempts from unknown devices are counted by account and network, by network, and by account. They can lock other unknown devices
 *   out of an account, but never a known device.
 * - Attempts from known devices are counted for each device. A member's known devices share one place in the queue.
 * - Known and unknown devices take turns, so that no member blocks other members.
 * - Logins with the correct password are counted by device, session or network, so that an attacker cannot keep the account holder from
 *   changing the password.
 */
export class LogInGuard {
  readonly #wrong = {
    pair: new Counter(5),
    network: new Counter(20),
    account: new Counter(50),
    known: new Counter(5),
  };
  readonly #right = new Counter(LOG_INS_MAX);
  readonly #malformed = new Counter(60);
  #running = 0;
  readonly #waiting: Readonly<Record<Kind, (() => void)[]>> = { known: [], unknown: [] };
  #lastServed: Kind = "unknown";
  /** Emails with a waiting or running attempt from a known device. */
  readonly #knownAtWork = new Set<string>();

  /** Waits until it is the attempt's turn, then checks a password and counts the result. `email` must be in lower case. */
  async guard<T>(attempt: Attempt, nowMs: number, check: () => Promise<T | null>): Promise<T | null> {
    this.#refuse(attempt, nowMs);
    const { email, known } = attempt;
    const kind = known === null ? "unknown" : "known";
    // Rejects the attempt before counting it, because an attempt without a password check is not a guess.
    if (kind === "known" && this.#knownAtWork.has(email)) throw tooMany(1);
    this.#refuseFull(kind);
    if (kind === "known") this.#knownAtWork.add(email);
    try {
      return await this.#count(attempt, nowMs, () => this.#inTurn(kind, check));
    } finally {
      if (kind === "known") this.#knownAtWork.delete(email);
    }
  }

  /** Like `guard`, but without a turn, for a check that waits for the database and needs little CPU. */
  async count<T>(attempt: Attempt, nowMs: number, check: () => Promise<T | null>): Promise<T | null> {
    this.#refuse(attempt, nowMs);
    return this.#count(attempt, nowMs, check);
  }

  /** Waits for a turn, then hashes a new password for a caller with a valid one-time link. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseFull("known");
    return this.#inTurn("known", work);
  }

  /** Counts an invalid body. Throws if the network has sent too many invalid bodies. */
  countMalformed(address: string, nowMs: number): void {
    const network = networkOf(address);
    this.#malformed.refuse(network, nowMs);
    this.#malformed.add(network, nowMs);
  }

  #refuse(attempt: Attempt, nowMs: number): void {
    if (attempt.known === null) this.#malformed.refuse(networkOf(attempt.address), nowMs);
    for (const { counter, key } of this.#countsFor(attempt)) counter.refuse(key, nowMs);
    this.#right.refuse(keyOfRight(attempt), nowMs);
  }

  async #count<T>(attempt: Attempt, nowMs: number, check: () => Promise<T | null>): Promise<T | null> {
    const counts = this.#countsFor(attempt);
    // Counts the attempt before the check, so that concurrent attempts cannot exceed the limit.
    for (const { counter, key } of counts) counter.add(key, nowMs);
    let isWrong = false;
    try {
      const found = await check();
      isWrong = found === null;
      if (!isWrong) this.#right.add(keyOfRight(attempt), nowMs);
      return found;
    } finally {
      if (!isWrong) for (const { counter, key } of counts) counter.takeBack(key);
    }
  }

  #countsFor({ email, address, known }: Attempt): { counter: Counter; key: string }[] {
    const { pair, network, account } = this.#wrong;
    if (known !== null) return [{ counter: this.#wrong.known, key: `${known} ${email}` }];
    const from = networkOf(address);
    return [
      { counter: pair, key: `${from} ${email}` },
      { counter: network, key: from },
      { counter: account, key: email },
    ];
  }

  #refuseFull(kind: Kind): void {
    if (this.#running >= AT_ONCE_MAX && this.#waiting[kind].length >= WAITING_MAX) throw tooMany(1);
  }

  async #inTurn<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE_MAX) {
      await new Promise<void>((resolve) => this.#waiting[kind].push(resolve));
    } else this.#running += 1;
    this.#lastServed = kind;
    try {
      return await work();
    } finally {
      // Passes the turn to a waiting attempt, of the other kind if possible, so that a new attempt cannot take the turn.
      const { known, unknown } = this.#waiting;
      const [first, second] = this.#lastServed === "known" ? [unknown, known] : [known, unknown];
      const next = first.shift() ?? second.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function keyOfRight({ email, address, known }: Attempt): string {
  return `${known ?? networkOf(address)} ${email}`;
}

type Kind = "known" | "unknown";

type Count = { count: number; readonly sinceMs: number };

/** Counts uses of each key within a window that starts with the first use. The number of keys is limited. */
class Counter {
  /** Sorted by the start of the window. All windows have the same length, so they also end in this order. */
  readonly #counts = new Map<string, Count>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  refuse(key: string, nowMs: number): void {
    const found = this.#counts.get(key);
    if (found === undefined || found.count < this.#max) return;
    const waitMs = found.sinceMs + WINDOW_MS - nowMs;
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1_000));
  }

  add(key: string, nowMs: number): void {
    this.#forgetEnded(nowMs);
    const found = this.#counts.get(key);
    if (found !== undefined) {
      found.count += 1;
      return;
    }
    if (this.#counts.size >= REMEMBERED_MAX) this.#forgetLeast();
    this.#counts.set(key, { count: 1, sinceMs: nowMs });
  }

  takeBack(key: string): void {
    const found = this.#counts.get(key);
    if (found !== undefined && found.count > 0) found.count -= 1;
  }

  #forgetEnded(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#counts) {
      if (sinceMs + WINDOW_MS > nowMs) return;
      this.#counts.delete(key);
    }
  }

  /** Evicts the oldest of the lowest counts, so that single attempts never evict a higher count. */
  #forgetLeast(): void {
    let least: { key: string; count: number } | null = null;
    for (const [key, { count }] of this.#counts) {
      if (least === null || count < least.count) least = { key, count };
      if (count <= 1) break;
    }
    if (least !== null) this.#counts.delete(least.key);
  }
}

function tooMany(retryAfterSeconds: number): Problem {
  return new Problem("rate_limited", {
    detail: "Too many login attempts. Wait, then try again.",
    retryAfterSeconds,
  });
}
