import { customerKey } from "../../store/cell/customers.ts";
import type { Outcome, Pending, RuntimeRequest } from "./request.ts";

/** Maximum number of charges and events in a batch. */
const BATCH_SIZE_MAX = 300;
const AGE_MAX_MS = 2_000;

/** Requests waiting in a lane, oldest first. Requests that wait too long are rejected. */
export class LaneQueue {
  #waiting: Pending[] = [];
  readonly #lengthMax: number;
  readonly #ageTimer: NodeJS.Timeout;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
    this.#ageTimer = setInterval(() => this.#refuseAged(), AGE_MAX_MS / 8).unref();
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Excludes parked requests, which wait for a catalog, so that one environment's slow catalog cannot fill the queue for all others. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#lengthMax;
  }

  push(pending: Pending): void {
    pending.request.span?.enterQueue();
    this.#waiting.push(pending);
  }

  /**
   * Returns undecided requests to the front of the queue. Checks ages here too, because the timer can miss a request that
   * keeps being taken and put back.
   */
  putBack(pendings: readonly Pending[]): void {
    for (const { request } of pendings) request.span?.enterQueue();
    this.#waiting.unshift(...pendings);
    this.#refuseAged();
  }

  take(): Pending[] {
    return traced(this.#waiting.splice(0, countFitting(this.#waiting)));
  }

  /** Takes the first request and others for the same customer, up to a full batch. */
  takeOneCustomer(): Pending[] {
    const [first] = this.#waiting;
    if (first === undefined) return [];
    const batch = this.#waiting.filter(({ request }) => isSameCustomer(request, first.request));
    batch.splice(countFitting(batch));
    const taken = new Set(batch);
    this.#waiting = this.#waiting.filter((pending) => !taken.has(pending));
    return traced(batch);
  }

  sharesWallet(batch: readonly Pending[]): boolean {
    const customers = new Set(batch.map(({ request }) => customerKey(request)));
    return this.#waiting.some(({ request }) => customers.has(customerKey(request)));
  }

  refuseAll(outcome: Outcome): void {
    refuse(this.#waiting.splice(0), outcome);
  }

  close(): void {
    clearInterval(this.#ageTimer);
  }

  #refuseAged(): void {
    const count = this.#waiting.findIndex((pending) => !isTooOld(pending));
    refuse(this.#waiting.splice(0, count === -1 ? this.#waiting.length : count), { kind: "overloaded" });
  }
}

/** How many requests fit into a batch: at least one. Each item of a request counts. */
function countFitting(waiting: readonly Pending[]): number {
  let size = 0;
  for (const [index, { request }] of waiting.entries()) {
    size += "consumption" in request ? request.consumption.items.length : 1;
    if (size > BATCH_SIZE_MAX) return Math.max(1, index);
  }
  return waiting.length;
}

function traced(batch: Pending[]): Pending[] {
  for (const { request } of batch) request.span?.enterDatabase(batch.length);
  return batch;
}

export function isTooOld({ enqueuedAtMs }: Pending): boolean {
  return enqueuedAtMs < performance.now() - AGE_MAX_MS;
}

function isSameCustomer(a: RuntimeRequest, b: RuntimeRequest): boolean {
  return a.customerId === b.customerId && a.environmentId === b.environmentId;
}

/** A request that may have been committed is not rejected: its outcome is reported as unknown. */
export function refuse(batch: readonly Pending[], outcome: Outcome): void {
  for (const pending of batch) pending.settle(pending.isUncertain ? { kind: "outcome_unknown" } : outcome);
}
