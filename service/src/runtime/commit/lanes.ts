import { assert } from "../../primitives/assert.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import type { Outcome, RuntimeRequest } from "./request.ts";

/**
 * The lanes of one cell. A process sends all requests for a customer to the same lane. A lane skips a wallet that another
 * transaction has locked. Requests that were skipped several times move to the blocking lane, which waits for the lock.
 */
export class Lanes {
  readonly #lanes: readonly Lane[];
  readonly #blocking: Lane;

  constructor(count: number, options: Omit<LaneOptions, "blocking">) {
    assert(count >= 1, "a cell has at least one lane");
    const blocking = new Lane({ ...options, blocking: null });
    this.#lanes = Array.from({ length: count }, () => new Lane({ ...options, blocking }));
    this.#blocking = blocking;
  }

  submit(request: RuntimeRequest): Promise<Outcome> {
    const lane = this.#lanes[spread(request.customerId) % this.#lanes.length];
    assert(lane !== undefined, "every customer has a lane");
    const { span } = request;
    const outcome = lane.submit(request);
    return span === null ? outcome : outcome.finally(() => span.settle());
  }

  queueLengths(): number[] {
    return [...this.#lanes, this.#blocking].map((lane) => lane.queueLength);
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
    // Closed last, because the other lanes move requests to it.
    await this.#blocking.close();
  }
}

/** Maps an ID to a number. FNV-1a spreads IDs well enough over a handful of lanes. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
