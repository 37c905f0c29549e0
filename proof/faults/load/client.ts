import { Agent } from "node:http";
import { pickFrom } from "../chance.ts";
import type { Call, EventRequest } from "../history/call.ts";
import type { History } from "../history/history.ts";
import { fingerprintOf, toBody } from "./make-request.ts";
import { postEvent, type Target } from "./post-event.ts";

const REMEMBERED_MAX = 500;

/** One caller's backend: its own connections, and a memory of the keys it has used. */
export class Client {
  readonly #name: string;
  readonly #target: Target;
  readonly #history: History;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #remembered: EventRequest[] = [];
  #sent = 0;

  constructor(name: string, target: Target, history: History) {
    this.#name = name;
    this.#target = target;
    this.#history = history;
  }

  send(request: EventRequest): Promise<Call> {
    if (request.key !== null) this.#remembered[this.#sent++ % REMEMBERED_MAX] = request;
    return this.#history.record(this.#call(request));
  }

  /** A keyed request of its own from some time ago, perhaps from before a crash. */
  findEarlier(): EventRequest | null {
    return pickFrom(this.#remembered);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(request: EventRequest): Promise<Call> {
    const startMs = performance.now();
    const outcome = await postEvent(this.#target, this.#agent, toBody(request));
    const endMs = performance.now();
    return { client: this.#name, request, fingerprint: fingerprintOf(request), startMs, endMs, outcome };
  }
}
