import { assert } from "../../words/assert.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import type { Outcome, RuntimeRequest } from "./request.ts";

/** The lanes of one cell. Within a process a customer always falls into the same lane. */
export class Lanes {
  readonly #lanes: readonly Lane[];

  constructor(count: number, options: LaneOptions) {
    assert(count >= 1, "a cell has at least one lane");
    this.#lanes = Array.from({ length: count }, () => new Lane(options));
  }

  submit(request: RuntimeRequest): Promise<Outcome> {
    const lane = this.#lanes[spread(request.event.customerId) % this.#lanes.length];
    assert(lane !== undefined, "every customer has a lane");
    return lane.submit(request);
  }

  queueLengths(): number[] {
    return this.#lanes.map((lane) => lane.queueLength);
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }
}

/** FNV-1a: spreads ids well enough over a handful of lanes. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
