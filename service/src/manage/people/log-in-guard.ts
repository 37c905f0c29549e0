import { Problem } from "../../edge/problem.ts";
import { networkOf } from "../../primitives/network.ts";

/** A password check takes a core for 30 ms and more: one at a time leaves the others to the runtime API. */
const AT_ONCE_MAX = 1;
/** Each for strangers and for known devices. */
const WAITING_MAX = 10;
/** Of one member from one device or network in a window: each is a check and a row of the audit log. */
const LOG_INS_MAX = 10;
const WINDOW_MS = 60_000;
/** More than the checks of passwords that fit into a window: only malformed attempts could fill one of the counters. */
const REMEMBERED_MAX = 10_000;

/** Somebody who tries to log in. */
export type Attempt = {
  readonly email: string;
  readonly address: string;
  /** A device or session that has shown this member's password before. Null: a stranger. */
  readonly known: string | null;
};

/**
 * Keeps guessing slow, and keeps it from taking the processor. Per process, as the runtime's rates are.
 *
 * Strangers are counted by account and network, by network, and by account from everywhere. So strangers can keep other
 * strangers out of an account, but never a known device: that one is counted by itself alone, and is served first. A member with
 * known devices has one place in the queue, and after each of those a stranger has a turn: no member keeps the others out. Right
 * passwords are counted by device, session or network too, so that a thief of one cannot keep its owner from changing it.
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
  readonly #waiting: Readonly<Record<Kind, (() => void)[]>> = { known: [], stranger: [] };
  #lastServed: Kind = "stranger";
  /** Emails whose known devices have an attempt that waits or runs. */
  readonly #knownAtWork = new Set<string>();

  /** Runs a check of a password in turn, and counts what it finds. `email` in lower case. */
  async guard<T>(attempt: Attempt, nowMs: number, check: () => Promise<T | null>): Promise<T | null> {
    const counts = this.#countsFor(attempt);
    if (attempt.known === null) this.#malformed.refuse(networkOf(attempt.address), nowMs);
    for (const { counter, key } of counts) counter.refuse(key, nowMs);
    const from = attempt.known ?? networkOf(attempt.address);
    const right = `${from} ${attempt.email}`;
    this.#right.refuse(right, nowMs);
    const kind = attempt.known === null ? "stranger" : "known";
    // Refused before it is counted: whoever was not checked has not guessed.
    if (kind === "known" && this.#knownAtWork.has(attempt.email)) throw tooMany(1);
    this.#refuseFull(kind);
    // Counted before it is checked: many at once must not all be let in.
    for (const { counter, key } of counts) counter.add(key, nowMs);
    if (kind === "known") this.#knownAtWork.add(attempt.email);
    let isWrong = false;
    try {
      const found = await this.#inTurn(kind, check);
      isWrong = found === null;
      if (!isWrong) this.#right.add(right, nowMs);
      return found;
    } finally {
      if (!isWrong) for (const { counter, key } of counts) counter.takeBack(key);
      if (kind === "known") this.#knownAtWork.delete(attempt.email);
    }
  }

  /** Hashes a new password, for somebody who has shown a link that is good: it is good once. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseFull("known");
    return this.#inTurn("known", work);
  }

  /** A body that could not be an attempt to log in. Throws where a network sends too many of them. */
  countMalformed(address: string, nowMs: number): void {
    const network = networkOf(address);
    this.#malformed.refuse(network, nowMs);
    this.#malformed.add(network, nowMs);
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
      // The turn goes over to who waited longest; nobody who comes just now takes it.
      const { known, stranger } = this.#waiting;
      const [first, second] = this.#lastServed === "known" ? [stranger, known] : [known, stranger];
      const next = first.shift() ?? second.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

type Kind = "known" | "stranger";

type Count = { count: number; readonly sinceMs: number };

/** Counts within a window that begins with the first of a key. Bounded. */
class Counter {
  /** In the order in which their windows began, and so in which they end. */
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

  /** The oldest of those with the lowest count: many that tried once never push out one that tried often. */
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
    detail: "Too many attempts to log in. Wait a little, then try again.",
    retryAfterSeconds,
  });
}
