import { randomUUID } from "node:crypto";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { lossyTransaction, single, transaction } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { ownClock } from "../primitives/clocks-agree.ts";
import { publicId } from "../primitives/public-id.ts";
import { raiseCatalogVersion } from "../store/cell/catalog-row.ts";
import { readClock } from "../store/cell/clock.ts";
import {
  type Attempt,
  type Backlog,
  countDue,
  type Delivery,
  listDueDeliveries,
  recordAttempts,
} from "../store/cell/deliveries.ts";
import type { StoredNotice } from "../store/cell/notices.ts";
import {
  claimWebhooks,
  disableFailing,
  hasDueWebhooks,
  noteFailure,
  noteSuccess,
  releaseWebhooks,
  renewClaim,
  type Target,
} from "../store/cell/webhook-claims.ts";
import { refreshNoticeTypes } from "../store/cell/webhooks.ts";
import { renderNotice } from "./render.ts";
import { type Answer, isDelivered, WebhookSender } from "./send.ts";
import type { TargetPolicy } from "./target.ts";

/** At most this many deliveries to one webhook at the same time. */
const AT_ONCE = 32;
/** At most this many webhooks at the same time. The sender has enough connections for all of them. */
const LOOPS_MAX = 60;
/** With a timeout of 10 s, a page takes at most 20 s, less than the 30 s of a claim. */
const PAGE_SIZE = 2 * AT_ONCE;
/** After this time, a webhook lets others take a turn. */
const TURN_MS = 10_000;
/** How long `stop` waits for deliveries in progress. Interrupted deliveries are sent again later. */
const STOP_MS = 3_000;
const RETRY_FIRST_MS = 5_000;
const RETRY_FACTOR = 4;
const RETRY_MAX_MS = 6 * 3_600_000;
/** A delivery that still fails after this time is no longer retried. */
const RETRY_FOR_MS = 3 * 86_400_000;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
const ANSWER_LENGTH_MAX = 500;

/** The answer to each attempted delivery. Null if nothing was sent because the customer was erased. */
type Answers = ReadonlyMap<Delivery, Answer | null>;

/** A webhook that fails gets one delivery at a time, with pauses. */
type Failing = { readonly pages: number; readonly until: number };

type Options = {
  readonly onAttempt: (isDelivered: boolean) => void;
  readonly onDisabled: (webhook: number) => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Delivers notices to webhooks. Each webhook has its own loop in one process, which claims it, so a slow webhook does not delay others. A
 * customer's notices are delivered one after another. Delivery is at least once: if a sent delivery was not recorded, it is sent again with
 * the same ID. So commits do not wait for the disk.
 */
export class Deliverer {
  readonly #cell: Pool;
  readonly #sender: WebhookSender;
  readonly #options: Options;
  readonly #processId = randomUUID();
  readonly #loops = new Map<number, Promise<void>>();
  #lastTransaction: Promise<unknown> = Promise.resolve();
  readonly #failing = new Map<number, Failing>();
  #isStopping = false;

  constructor(cell: Pool, targets: TargetPolicy, options: Options) {
    this.#cell = cell;
    this.#sender = new WebhookSender(targets);
    this.#options = options;
  }

  /** Starts a loop for each webhook with due deliveries. Call this about every second. */
  async run(): Promise<void> {
    const limit = LOOPS_MAX - this.#loops.size;
    if (this.#isStopping || limit === 0 || !(await this.#inTurn(single<boolean>, hasDueWebhooks))) return;
    const paused = [...this.#failing].filter(([, { until }]) => until > performance.now());
    const except = [...this.#loops.keys(), ...paused.map(([id]) => id)];
    const claim = { processId: this.#processId, except, limit };
    const claimed = await this.#transact(async (tx) => (this.#isStopping ? [] : claimWebhooks(tx, claim)));
    for (const id of claimed) {
      const loop = this.#deliverAll(id)
        .catch((error: unknown) => {
          // The attempts could not be recorded and will be repeated, so pause first.
          this.#pause(id);
          this.#options.onError(error);
        })
        .finally(() => this.#loops.delete(id));
      this.#loops.set(id, loop);
    }
  }

  /** Waits up to `STOP_MS` for deliveries in progress, then releases this process's claims. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const timer = setTimeout(() => this.#sender.close(), STOP_MS);
    await Promise.all(this.#loops.values());
    clearTimeout(timer);
    this.#sender.close();
    await this.#transact((tx) => releaseWebhooks(tx, this.#processId));
  }

  countDue(): Promise<Backlog> {
    return this.#inTurn(single<Backlog>, countDue);
  }

  /** Losing a delivery record in a crash is safe: the delivery is sent again. */
  #transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn(lossyTransaction<T>, work);
  }

  /** Runs one transaction at a time. Waiting here has no time limit, whereas waiting for a pool connection fails after a second. */
  #inTurn<T>(run: typeof single<T>, work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = this.#lastTransaction.then(() => run(this.#cell, work));
    this.#lastTransaction = result.catch(() => {});
    return result;
  }

  async #deliverAll(id: number): Promise<void> {
    const endMs = performance.now() + TURN_MS;
    while (!this.#isStopping && performance.now() < endMs) if (!(await this.#deliverPage(id))) return;
  }

  /** Returns whether to continue with the next page. */
  async #deliverPage(id: number): Promise<boolean> {
    const page = await this.#transact(async (tx) => {
      const target = await renewClaim(tx, id, this.#processId);
      return target === null
        ? null
        : { target, due: await listDueDeliveries(tx, id, target.isFailing ? 1 : PAGE_SIZE) };
    });
    if (page === null || page.due.length === 0) return false;
    const answers = await this.#sendAll(page.target, page.due);
    const sent = [...answers.values()].filter((answer) => answer !== null);
    const hasSuccess = sent.some(isDelivered);
    const hasFailed = sent.length > 0 && !hasSuccess;
    const isOver = await this.#transact(async (tx) => {
      const now = await readClock(tx);
      const attempts = [...answers].map(([delivery, answer]) => toAttempt(delivery, answer, now));
      await recordAttempts(tx, id, attempts);
      if (hasFailed) return noteFailure(tx, id);
      if (hasSuccess) await noteSuccess(tx, id);
      return false;
    });
    if (isOver) await this.#disable(page.target);
    if (hasFailed) this.#pause(id);
    else this.#failing.delete(id);
    return !hasFailed;
  }

  /** Processes learn from the catalog that the webhook no longer receives its types. */
  async #disable({ id, environmentId }: Target): Promise<void> {
    const isDisabled = await this.#inTurn(transaction<boolean>, async (tx) => {
      await raiseCatalogVersion(tx, environmentId);
      if (!(await disableFailing(tx, id))) return false;
      await refreshNoticeTypes(tx, environmentId);
      return true;
    });
    if (isDisabled) this.#options.onDisabled(id);
  }

  async #sendAll(target: Target, due: readonly Delivery[]): Promise<Answers> {
    const answers = new Map<Delivery, Answer | null>();
    const rest = due.values();
    const sendRest = async (): Promise<void> => {
      for (const delivery of rest) {
        if (this.#isStopping) return;
        const answer = await this.#send(target, delivery.notice);
        // `stop` interrupted the request, so do not record a failed attempt.
        if (this.#isStopping && answer?.kind === "failed") return;
        answers.set(delivery, answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendRest));
    return answers;
  }

  /** Null if the customer was erased. */
  async #send({ url, secret, previousSecret }: Target, notice: StoredNotice): Promise<Answer | null> {
    const body = renderNotice(notice);
    if (body === null) return null;
    const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
    const id = publicId("ntc", notice.id);
    const timestamp = Math.floor(ownClock() / 1_000);
    const answer = await this.#sender.send({ url, secrets, id, body, timestamp });
    this.#options.onAttempt(isDelivered(answer));
    return answer;
  }

  #pause(id: number): void {
    const pages = (this.#failing.get(id)?.pages ?? 0) + 1;
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_FIRST_MS * 2 ** (pages - 1));
    this.#failing.set(id, { pages, until: performance.now() + pauseMs });
  }
}

function toAttempt(delivery: Delivery, answer: Answer | null, now: Instant): Attempt {
  const { attempts, retriedSince } = delivery;
  if (answer === null)
    return { delivery, state: "failed", dueAt: now, status: null, answer: "The customer was erased" };
  const [status, text] = answer.kind === "answered" ? [answer.status, answer.text] : [null, answer.message];
  const response = { delivery, status, answer: text.slice(0, ANSWER_LENGTH_MAX).toWellFormed() };
  if (isDelivered(answer)) return { ...response, state: "delivered", dueAt: now };
  if (now - retriedSince >= RETRY_FOR_MS) return { ...response, state: "failed", dueAt: now };
  return {
    ...response,
    state: "pending",
    dueAt: brandAs<Instant>(now + retryAfter(attempts, Math.random())),
  };
}

/** How long to wait after the next attempt fails. `random`, from 0 to 1, adds ±12.5% jitter. */
export function retryAfter(attempts: number, random: number): number {
  const waitMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * RETRY_FACTOR ** attempts);
  return Math.round(waitMs * (0.875 + random / 4));
}
