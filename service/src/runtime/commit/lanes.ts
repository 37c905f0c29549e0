import { assert } from "../../primitives/assert.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import type { EventRequest, Outcome, RuntimeRequest } from "./request.ts";

const QUEUE_LENGTH_MAX = 2_000;
/** While one lane decides, the other lane writes. A single lane recorded a third fewer events per second in a measurement. */
const BULK_LANES = 2;
/** Five batches of the maximum size per lane. A lane admits a batch if fewer events than this are waiting. */
const BULK_QUEUE_LENGTH_MAX = 5_000;

/**
 * The lanes of one cell. A process sends all requests for a customer to the same lane. A lane skips a wallet that another
 * transaction has locked. Requests that were skipped several times move to the blocking lane, which waits for the lock. Batches of
 * events have separate lanes, so that no other request waits behind them.
 */
export class Lanes {
  readonly #lanes: readonly Lane[];
  readonly #blocking: Lane;
  readonly #bulk: readonly Lane[];
  #batches = 0;

  constructor(count: number, shared: Omit<LaneOptions, "blocking" | "queueLengthMax">) {
    assert(count >= 1, "a cell has at least one lane");
    const options = { ...shared, queueLengthMax: QUEUE_LENGTH_MAX };
    const blocking = new Lane({ ...options, blocking: null });
    this.#lanes = Array.from({ length: count }, () => new Lane({ ...options, blocking }));
    this.#blocking = blocking;
    const bulk = { ...shared, queueLengthMax: BULK_QUEUE_LENGTH_MAX, blocking };
    this.#bulk = Array.from({ length: BULK_LANES }, () => new Lane(bulk));
  }

  submit(request: RuntimeRequest): Promise<Outcome> {
    const lane = this.#lanes[spread(request.customerId) % this.#lanes.length];
    assert(lane !== undefined, "every customer has a lane");
    const { span } = request;
    const outcome = lane.submit(request);
    return span === null ? outcome : outcome.finally(() => span.settle());
  }

  /** Commits the events of one batch in a few transactions. Each event gets its own outcome, in the same order. */
  submitBatch(events: readonly EventRequest[]): Promise<readonly Outcome[]> {
    const lane = this.#bulk[this.#batches++ % BULK_LANES];
    assert(lane !== undefined, "every batch has a lane");
    return new Promise((resolve) => {
      const outcomes: Outcome[] = [];
      let undecided = events.length;
      if (undecided === 0) resolve(outcomes);
      lane.submitAll(events, (outcome, index) => {
        outcomes[index] = outcome;
        undecided -= 1;
        if (undecided === 0) resolve(outcomes);
      });
    });
  }

  queueLengths(): number[] {
    return [...this.#lanes, this.#blocking].map((lane) => lane.queueLength);
  }

  /** The number of batch events that are waiting. */
  get bulkQueueLength(): number {
    return this.#bulk.reduce((sum, { queueLength }) => sum + queueLength, 0);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes, ...this.#bulk].map((lane) => lane.close()));
    // Closed last, because the other lanes move requests to it.
    await this.#blocking.close();
  }
}

/** Hashes an ID to a number. FNV-1a distributes IDs well enough across a few lanes. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
