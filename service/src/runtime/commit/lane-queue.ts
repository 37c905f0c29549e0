import { customerKey } from "../../store/cell/customers.ts";
import type { Outcome, Pending, RuntimeRequest } from "./request.ts";

const BATCH_SIZE_MAX = 300;
const LENGTH_MAX = 2_000;
const AGE_MAX_MS = 2_000;

/** What waits in a lane, the oldest first, and nobody for long. */
export class LaneQueue {
  #waiting: Pending[] = [];
  readonly #ageTimer: NodeJS.Timeout;

  constructor() {
    this.#ageTimer = setInterval(() => this.#refuseAged(), AGE_MAX_MS / 8).unref();
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** What is parked comes back here and is not counted: one environment's catalog would refuse all the others. */
  get isFull(): boolean {
    return this.#waiting.length >= LENGTH_MAX;
  }

  push(pending: Pending): void {
    this.#waiting.push(pending);
  }

  /**
   * Puts back requests that were taken and could not be decided, ahead of later ones. The timer may never meet a request that
   * comes back again and again, so its age is checked here too.
   */
  lead(pendings: readonly Pending[]): void {
    this.#waiting.unshift(...pendings);
    this.#refuseAged();
  }

  take(): Pending[] {
    return this.#waiting.splice(0, BATCH_SIZE_MAX);
  }

  /** Only what waits for the same wallet as the first. */
  takeOneCustomer(): Pending[] {
    const [first] = this.#waiting;
    if (first === undefined) return [];
    const batch = this.#waiting.filter(({ request }) => isSameCustomer(request, first.request));
    batch.splice(BATCH_SIZE_MAX);
    const taken = new Set(batch);
    this.#waiting = this.#waiting.filter((pending) => !taken.has(pending));
    return batch;
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
    const count = this.#waiting.findIndex((pending) => !isAged(pending));
    refuse(this.#waiting.splice(0, count === -1 ? this.#waiting.length : count), { kind: "overloaded" });
  }
}

export function isAged({ enqueuedAtMs }: Pending): boolean {
  return enqueuedAtMs < performance.now() - AGE_MAX_MS;
}

function isSameCustomer(a: RuntimeRequest, b: RuntimeRequest): boolean {
  return a.customerId === b.customerId && a.environmentId === b.environmentId;
}

/** What was perhaps committed is not refused: its caller hears that the outcome is unknown. */
export function refuse(batch: readonly Pending[], outcome: Outcome): void {
  for (const pending of batch) pending.settle(pending.isUncertain ? { kind: "outcome_unknown" } : outcome);
}
