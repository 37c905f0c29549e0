import type { RequestSpan } from "../edge/tracing.ts";
import type { EnvironmentId } from "../primitives/brand.ts";
import { ITEMS_MAX } from "../primitives/consume-id.ts";
import { type CustomerName, customerKey } from "../store/cell/customers.ts";

type Waiting = {
  readonly enqueuedAtMs: number;
  readonly request: CustomerName & { readonly span: RequestSpan | null };
};

type QueueOptions<T> = {
  readonly lengthMax: number;
  /** The size of a request in a batch, at most `ITEMS_MAX`. */
  readonly sizeOf: (waiting: T) => number;
  /** Called with requests that waited too long or do not fit in the queue. */
  readonly onOverload: (waiting: readonly T[]) => void;
};

type EnvironmentQueue<T> = {
  /** Oldest first. */
  readonly waiting: T[];
  /** The unused share of earlier turns, added to the next turn. */
  credit: number;
};

const BATCH_SIZE_MAX = 300;
/** Target duration of a batch while environments share the queue. Short, because a new request waits for the current batch. */
const SHARED_BATCH_MS = 10;
/** Number of charges and events that an environment takes in one turn. */
const SHARE = 5;
/** How long the queue counts as shared after consecutive requests from different environments. */
const SHARED_MS = 1_000;
const AGE_MAX_MS = 2_000;
/** Average delay of a rejection while environments share the queue. Reduces the work caused by callers that retry immediately. */
const HOLD_BACK_MS = 1_000;

/**
 * Requests that wait for a connection, with one queue per environment. Environments take turns (deficit round robin). When the queue
 * is full, the environment with the most requests loses its newest requests. As a result, one environment's backlog does not cause
 * delays or rejections for another environment.
 */
export class RequestQueue<T extends Waiting> {
  readonly #options: QueueOptions<T>;
  /** Environments with waiting requests, in the order of their turns. */
  readonly #queues = new Map<EnvironmentId, EnvironmentQueue<T>>();
  readonly #ageTimer: NodeJS.Timeout;
  #length = 0;
  #lastEnvironment: EnvironmentId | null = null;
  #sharedUntilMs = 0;
  /** Maximum size of a shared batch. Never less than the size of the largest request. */
  #sharedSizeMax = ITEMS_MAX;

  constructor(options: QueueOptions<T>) {
    this.#options = options;
    this.#ageTimer = setInterval(() => this.#rejectAged(), AGE_MAX_MS / 8).unref();
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Adds all requests of one environment, or rejects all of them. If the queue is full, the new requests replace the
   * newest requests of an environment that has more requests.
   */
  add(requests: readonly T[]): void {
    const [first] = requests;
    if (first === undefined) return;
    const { environmentId } = first.request;
    this.#noteSharing(environmentId);
    if (this.#length >= this.#options.lengthMax) {
      const longest = this.#longest();
      const own = this.#queues.get(environmentId)?.waiting.length ?? 0;
      const hasMore = longest.length - requests.length >= own + requests.length;
      this.#reject(hasMore ? longest.splice(-requests.length) : requests);
      if (!hasMore) return;
      this.#length -= requests.length;
    }
    for (const { request } of requests) request.span?.enterQueue();
    this.#queueOf(environmentId).waiting.push(...requests);
    this.#length += requests.length;
  }

  /**
   * Returns undecided requests to the front of their queues. Also rejects old requests, because the timer can miss a request that is
   * repeatedly taken and put back.
   */
  putBack(requests: readonly T[]): void {
    for (const [environmentId, own] of Map.groupBy(requests, ({ request }) => request.environmentId)) {
      for (const { request } of own) request.span?.enterQueue();
      this.#queueOf(environmentId).waiting.unshift(...own);
    }
    this.#length += requests.length;
    this.#rejectAged();
  }

  /** Takes the next batch: a few charges and events of each environment in turn, until the batch is full. */
  take(): T[] {
    const batch: T[] = [];
    let room = this.#isShared ? this.#sharedSizeMax : BATCH_SIZE_MAX;
    // An environment that still has requests is put at the end of the map, so the loop reaches it again.
    for (const [environmentId, queue] of this.#queues) {
      const [first] = queue.waiting;
      // This request stays first for the next batch. Otherwise, smaller requests could fill every batch before it fits.
      if (first !== undefined && this.#options.sizeOf(first) > room) break;
      const credit = this.#queues.size === 1 ? room : queue.credit + SHARE;
      const { count, size } = this.#fitting(queue.waiting, Math.min(credit, room));
      batch.push(...queue.waiting.splice(0, count));
      room -= size;
      // Capped at the size of the largest request, so that credit does not accumulate from turns cut short by a full batch.
      queue.credit = Math.min(credit - size, ITEMS_MAX);
      this.#queues.delete(environmentId);
      if (queue.waiting.length > 0) this.#queues.set(environmentId, queue);
    }
    return this.#taken(batch);
  }

  /** Adapts the size of shared batches to the duration of the last batch. */
  adapt(batch: readonly T[], durationMs: number): void {
    if (durationMs > SHARED_BATCH_MS) this.#sharedSizeMax = Math.max(ITEMS_MAX, this.#sharedSizeMax * 0.9);
    else if (batch.length >= this.#sharedSizeMax / 2)
      this.#sharedSizeMax = Math.min(BATCH_SIZE_MAX, this.#sharedSizeMax + 1);
  }

  /** Takes the first request of the next environment, and other requests for the same customer, up to a full batch. */
  takeOneCustomer(): T[] {
    const [turn] = this.#queues;
    if (turn === undefined) return [];
    const [environmentId, queue] = turn;
    const own = Map.groupBy(queue.waiting, ({ request }) => request.customerId);
    const [batch = []] = own.values();
    batch.splice(this.#fitting(batch, BATCH_SIZE_MAX).count);
    const isTaken = new Set(batch);
    const waiting = queue.waiting.filter((each) => !isTaken.has(each));
    this.#queues.delete(environmentId);
    if (waiting.length > 0) this.#queues.set(environmentId, { waiting, credit: 0 });
    return this.#taken(batch);
  }

  /** Removes and returns all requests, so that the caller can reject them. */
  takeAll(): T[] {
    const all = [...this.#queues.values()].flatMap(({ waiting }) => waiting);
    this.#queues.clear();
    this.#length = 0;
    return all;
  }

  sharesWallet(batch: readonly T[]): boolean {
    const customers = new Set(batch.map(({ request }) => customerKey(request)));
    for (const { waiting } of this.#queues.values())
      if (waiting.some(({ request }) => customers.has(customerKey(request)))) return true;
    return false;
  }

  close(): void {
    clearInterval(this.#ageTimer);
  }

  get #isShared(): boolean {
    return performance.now() < this.#sharedUntilMs;
  }

  #queueOf(environmentId: EnvironmentId): EnvironmentQueue<T> {
    const found = this.#queues.get(environmentId);
    if (found !== undefined) return found;
    const queue = { waiting: [], credit: 0 };
    this.#queues.set(environmentId, queue);
    return queue;
  }

  #longest(): T[] {
    let longest: T[] = [];
    for (const { waiting } of this.#queues.values()) if (waiting.length > longest.length) longest = waiting;
    return longest;
  }

  #noteSharing(environmentId: EnvironmentId): void {
    if (this.#lastEnvironment !== null && this.#lastEnvironment !== environmentId)
      this.#sharedUntilMs = performance.now() + SHARED_MS;
    this.#lastEnvironment = environmentId;
  }

  /** Returns how many requests from the front of the queue fit into a batch, and their total size. */
  #fitting(waiting: readonly T[], sizeMax: number): { count: number; size: number } {
    let size = 0;
    for (const [count, each] of waiting.entries()) {
      const next = size + this.#options.sizeOf(each);
      if (next > sizeMax) return { count, size };
      size = next;
    }
    return { count: waiting.length, size };
  }

  #taken(batch: T[]): T[] {
    this.#length -= batch.length;
    for (const { request } of batch) request.span?.enterRead(batch.length);
    return batch;
  }

  #reject(requests: readonly T[]): void {
    const { onOverload } = this.#options;
    // Rejected after a random delay, so that the retries do not all arrive at once.
    if (this.#isShared) setTimeout(onOverload, HOLD_BACK_MS * (0.5 + Math.random()), requests);
    else onOverload(requests);
  }

  #rejectAged(): void {
    for (const [environmentId, { waiting }] of this.#queues) {
      const index = waiting.findIndex((each) => !isTooOld(each));
      const aged = waiting.splice(0, index === -1 ? waiting.length : index);
      if (aged.length === 0) continue;
      this.#length -= aged.length;
      if (waiting.length === 0) this.#queues.delete(environmentId);
      this.#options.onOverload(aged);
    }
  }
}

export function isTooOld({ enqueuedAtMs }: Pick<Waiting, "enqueuedAtMs">): boolean {
  return enqueuedAtMs < performance.now() - AGE_MAX_MS;
}

/**
 * Splits a batch in half, between environments if possible, so that one environment's bad request delays the others as little as
 * possible.
 */
export function halve<T extends Waiting>(batch: readonly T[]): T[][] {
  const environments = [...Map.groupBy(batch, ({ request }) => request.environmentId).values()];
  const parts = environments.length > 1 ? environments : batch.map((each) => [each]);
  const middle = Math.ceil(parts.length / 2);
  return [parts.slice(0, middle).flat(), parts.slice(middle).flat()].filter(({ length }) => length > 0);
}
