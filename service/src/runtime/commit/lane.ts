import { setTimeout as pause } from "node:timers/promises";
import type { Lacking } from "../../postgres/lacking.ts";
import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import type { Session } from "../../postgres/session.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import { assert, assertNever } from "../../primitives/assert.ts";
import type { CatalogCache } from "../../store/cell/catalogs.ts";
import { KeptSession, type OpenSession } from "../kept-session.ts";
import { Parked } from "../parked.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import { DecisionFailed, orDecisionFailed, readFacts, writePlan } from "./commit-batch.ts";
import { decideBatch } from "./decide-batch.ts";
import { isAged, LaneQueue, refuse } from "./lane-queue.ts";
import type { Outcome, Pending, RuntimeRequest } from "./request.ts";

export type LaneOptions = {
  readonly openSession: OpenSession;
  readonly catalogs: CatalogCache;
  readonly idempotencyDays: number | null;
  /** Lane for requests whose wallet stayed locked after several attempts. Null on that lane itself: it waits for the lock. */
  readonly blocking: Lane | null;
  readonly onBatch: (batch: { size: number; durationMs: number }) => void;
  readonly onFailure: (failure: { kind: string; error: unknown }) => void;
};

const RERUNS_MAX = 3;
/** After so many skips a request goes where its wallet is waited for. */
const SKIPS_MAX = 3;
/** After so many batches ahead one that needs a wallet of the one before does not set out: a waiter would starve. */
const AHEAD_MAX = 4;
/** How long a broken connection is retried before callers hear of it: with the rest, under a second. */
const RETRY_WINDOW_MS = 500;
const RETRY_PAUSE_MS = 50;
const RECONNECT_PAUSE_MS = 200;
/** While callers wait; and while none do, when even a slow and distant database gets its chance. */
const CONNECT_TIMEOUT_MS = 400;
const RECONNECT_TIMEOUT_MS = 5_000;

type AttemptOptions = {
  /** When the first trip is already under way. */
  readonly opened: OpenedBatch | null;
  /** Not while a batch is halved: its other half is to follow. */
  readonly looksAhead: boolean;
};

type Attempt =
  | { kind: "done"; outcomes: BatchPlan["outcomes"] }
  | { kind: "rerun" | "bad_row" | "busy" | "lost" | "unknown" | "bug"; error: unknown };

/** A batch whose first trip is under way behind the commit of the batch before it. */
type OpenedBatch = {
  readonly batch: readonly Pending[];
  readonly facts: Promise<BatchFacts>;
  readonly session: Session;
};

/**
 * One connection and one queue. An idle lane takes whatever waits and commits it as one transaction; meanwhile the
 * queue grows, so batches grow with the load, and a lone request waits for no timer.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queue = new LaneQueue();
  readonly #session: KeptSession;
  readonly #parked: Parked<Pending>;
  #ahead: OpenedBatch | null = null;
  #aheadInARow = 0;
  #isBusy = false;
  #isDown = false;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#session = new KeptSession(options.openSession);
    this.#parked = new Parked({
      catalogs: options.catalogs,
      onBack: (pendings, isFetched) => {
        if (isFetched) for (const pending of pendings) pending.fetches += 1;
        this.#queue.lead(pendings);
        this.#wake();
      },
      onFailure: (error) => options.onFailure({ kind: "catalog", error }),
    });
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  submit(request: RuntimeRequest): Promise<Outcome> {
    return new Promise((settle) => {
      const enqueuedAtMs = performance.now();
      this.#enqueue({ request, enqueuedAtMs, settle, name: null, isUncertain: false, skips: 0, fetches: 0 });
    });
  }

  #enqueue(pending: Pending): void {
    const isServing = !this.#isDown && !this.#isClosed;
    if (!isServing || this.#queue.isFull) {
      refuse([pending], { kind: isServing ? "overloaded" : "unavailable" });
      return;
    }
    this.#queue.push(pending);
    this.#wake();
  }

  #wake(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    // Not at once: the other requests that arrived in this turn of the event loop join the batch.
    setImmediate(() => this.#drain());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#isBusy || this.#parked.size > 0) await pause(5);
    this.#queue.close();
    this.#session.destroy();
  }

  async #drain(): Promise<void> {
    while (this.#ahead !== null || this.#queue.length > 0) {
      const opened = this.#ahead;
      this.#ahead = null;
      await this.#commit(opened?.batch ?? this.#take(), { opened, looksAhead: true });
    }
    this.#isBusy = false;
  }

  /** Settles every request of the batch, one way or another. */
  async #commit(batch: readonly Pending[], options: AttemptOptions): Promise<void> {
    let giveUpAtMs: number | null = null;
    let { opened } = options;
    let reruns = 0;
    // What is left of a halved batch, or was parked: nobody waits for the connection that is being opened.
    if (this.#isDown) return refuse(batch, { kind: "unavailable" });
    for (;;) {
      const attempt = await this.#attempt(batch, { ...options, opened });
      opened = null;
      if (attempt.kind === "done") {
        this.#settle(batch, attempt.outcomes);
        return;
      }
      this.#options.onFailure(attempt);
      switch (attempt.kind) {
        case "rerun":
          reruns += 1;
          if (reruns <= RERUNS_MAX) break;
          // One of them may meet a conflict whenever it is tried, such as a new customer where sequences are behind.
          if (batch.length > 1) return this.#commitHalves(batch);
          return refuse(batch, { kind: "overloaded" });
        case "bad_row":
          if (batch.length === 1) return refuse(batch, { kind: "fault", error: attempt.error });
          return this.#commitHalves(batch);
        case "busy":
          return refuse(batch, { kind: "overloaded" });
        case "bug":
          return refuse(batch, { kind: "fault", error: attempt.error });
        case "lost":
        case "unknown":
          if (attempt.kind === "unknown") for (const pending of batch) pending.isUncertain = true;
          giveUpAtMs ??= performance.now() + RETRY_WINDOW_MS;
          if (performance.now() > giveUpAtMs) return this.#goDown(batch);
          await pause(RETRY_PAUSE_MS);
          break;
        default:
          assertNever(attempt);
      }
    }
  }

  async #attempt(batch: readonly Pending[], { opened, looksAhead }: AttemptOptions): Promise<Attempt> {
    assert(this.#ahead === null, "one transaction at a time");
    const startedAtMs = performance.now();
    let session: Session;
    try {
      session = await this.#session.get(CONNECT_TIMEOUT_MS);
    } catch (error) {
      return { kind: "lost", error };
    }
    let plan: BatchPlan;
    try {
      // Facts belong to the transaction they were read in: on another connection they are read again.
      const facts = await (opened?.session === session ? opened.facts : this.#readFacts(session, batch));
      session.requireTransaction();
      plan = orDecisionFailed(() => decideBatch(batch, facts));
      const written = writePlan(session, plan, facts.now);
      if (looksAhead) this.#openAhead(session, batch);
      await written;
    } catch (error) {
      return this.#explain(session, error);
    }
    this.#options.onBatch({ size: batch.length, durationMs: performance.now() - startedAtMs });
    return { kind: "done", outcomes: plan.outcomes };
  }

  /**
   * The next batch sets out behind this one's commit instead of waiting for its answer: the database goes on working
   * while this process writes replies. 30 % more events a second.
   */
  #openAhead(session: Session, closing: readonly Pending[]): void {
    if (this.#queue.length === 0) return;
    if (this.#aheadInARow >= AHEAD_MAX) {
      this.#aheadInARow = 0;
      if (this.#queue.sharesWallet(closing)) return;
    }
    this.#aheadInARow += 1;
    const batch = this.#take();
    const facts = this.#readFacts(session, batch);
    facts.catch(() => {}); // met by the attempt that awaits it, or given up with the batch before it
    this.#ahead = { batch, facts, session };
  }

  #readFacts(session: Session, batch: readonly Pending[]): Promise<BatchFacts> {
    const { catalogs, blocking, idempotencyDays } = this.#options;
    return readFacts(session, batch, { catalogs, waits: blocking === null, idempotencyDays });
  }

  async #explain(session: Session, error: unknown): Promise<Attempt> {
    // What set out behind this batch has written nothing; it waits again, and the rollback below ends its transaction.
    this.#queue.lead(this.#ahead?.batch ?? []);
    this.#ahead = null;
    if (error instanceof OutcomeUnknown) {
      session.destroy();
      return { kind: "unknown", error };
    }
    // Not an answer of the database, but no fault of the connection either.
    const kind = error instanceof DecisionFailed ? "bad_row" : decodeSqlError(error).kind;
    if (kind === "lost") {
      session.destroy();
      return { kind, error };
    }
    // Also after a failed second trip, whose commit has rolled back already: then it changes nothing.
    await session.rollback().catch(() => session.destroy());
    return { kind: kind === "conflict" ? "rerun" : kind, error };
  }

  /** One request is to blame: halve until it stands alone, so that its neighbours are not refused with it. */
  async #commitHalves(batch: readonly Pending[]): Promise<void> {
    // Halving takes many trips, during which the others wait: nobody joins it who has waited too long already.
    refuse(batch.filter(isAged), { kind: "overloaded" });
    const young = batch.filter((pending) => !isAged(pending));
    const middle = Math.ceil(young.length / 2);
    for (const half of [young.slice(0, middle), young.slice(middle)])
      if (half.length > 0) await this.#commit(half, { opened: null, looksAhead: false });
  }

  /** What waits, in order; where wallets are waited for, only what waits for the same one. */
  #take(): Pending[] {
    return this.#options.blocking === null ? this.#queue.takeOneCustomer() : this.#queue.take();
  }

  /**
   * Those whose wallet was held lead the queue; those passed by often enough go where they are waited for. Those that lack a
   * part of the catalog wait aside until it was fetched.
   */
  #settle(batch: readonly Pending[], outcomes: BatchPlan["outcomes"]): void {
    const again: Pending[] = [];
    const lacking: { lacking: Lacking; thing: Pending }[] = [];
    for (const [index, pending] of batch.entries()) {
      const outcome = outcomes[index] ?? { kind: "fault", error: new Error("a request without an outcome") };
      if (outcome.kind === "lacking") {
        lacking.push({ lacking: outcome.lacking, thing: pending });
        continue;
      }
      if (outcome.kind !== "held") {
        pending.settle(outcome);
        continue;
      }
      pending.skips += 1;
      const { blocking } = this.#options;
      if (blocking !== null && pending.skips >= SKIPS_MAX) blocking.#enqueue(pending);
      else again.push(pending);
    }
    this.#queue.lead(again);
    refuse(this.#parked.park(lacking), { kind: "overloaded" });
  }

  /** The database is out of reach: everyone is told at once, and new requests too, until it is back. */
  #goDown(batch: readonly Pending[]): void {
    refuse(batch, { kind: "unavailable" });
    this.#queue.refuseAll({ kind: "unavailable" });
    if (this.#isDown) return;
    this.#isDown = true;
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    while (this.#isDown && !this.#isClosed) {
      await pause(RECONNECT_PAUSE_MS);
      await this.#session.get(RECONNECT_TIMEOUT_MS).then(
        (session) => {
          if (this.#isClosed) session.destroy();
          this.#isDown = false;
        },
        () => {},
      );
    }
  }
}
