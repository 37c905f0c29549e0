import { assert } from "../../primitives/assert.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import type { Outcome, RuntimeRequest } from "./request.ts";

/**
 * The lanes of one cell. Within a process a customer always falls into the same lane. A lane never waits for a wallet
 * that somebody else holds; requests that met one too often go on to one more lane, which does.
 */
export class Lanes {
  readonly #lanes: readonly Lane[];
  readonly #patient: Lane;

  constructor(count: number, options: Omit<LaneOptions, "patient">) {
    assert(count >= 1, "a cell has at least one lane");
    const patient = new Lane({ ...options, patient: null });
    this.#lanes = Array.from({ length: count }, () => new Lane({ ...options, patient }));
    this.#patient = patient;
  }

  submit(request: RuntimeRequest): Promise<Outcome> {
    const lane = this.#lanes[spread(request.customerId) % this.#lanes.length];
    assert(lane !== undefined, "every customer has a lane");
    return lane.submit(request);
  }

  queueLengths(): number[] {
    return [...this.#lanes, this.#patient].map((lane) => lane.queueLength);
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
    // After the others: what they could not decide is here.
    await this.#patient.close();
  }
}

/** FNV-1a: spreads ids well enough over a handful of lanes. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
