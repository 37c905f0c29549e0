import { Agent } from "node:http";
import { pickFrom } from "../../harness/chance.ts";
import type { Call, ClientRequest } from "../history/call.ts";
import type { History } from "../history/history.ts";
import { isKeyed, type KeyedRequest } from "./make-request.ts";
import { post, type Target } from "./post.ts";
import { fingerprintOf } from "./request-body.ts";

const REMEMBERED_MAX = 500;
/** How long a process that refused a connection is left alone, if there is another. */
const AVOID_MS = 100;

/** One caller's backend: its own connections, and a memory of the keys it has used. */
export class Client {
  readonly #name: string;
  readonly #target: Target;
  readonly #history: History;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #remembered: KeyedRequest[] = [];
  readonly #avoidUntilMs = new Map<string, number>();
  #sent = 0;

  constructor(name: string, target: Target, history: History) {
    this.#name = name;
    this.#target = target;
    this.#history = history;
  }

  send(request: ClientRequest): Promise<Call> {
    if (isKeyed(request)) this.#remembered[this.#sent++ % REMEMBERED_MAX] = request;
    return this.#history.record(this.#call(request));
  }

  /** A keyed request of its own from some time ago, perhaps from before a crash. */
  findEarlier(): KeyedRequest | null {
    return pickFrom(this.#remembered);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(request: ClientRequest): Promise<Call> {
    const { name: service, port } = this.#pickService();
    const startMs = performance.now();
    const outcome = await post({ port, secret: this.#target.secret }, this.#agent, request);
    const endMs = performance.now();
    if (outcome.kind === "info" && outcome.reason === "ECONNREFUSED")
      this.#avoidUntilMs.set(service, endMs + AVOID_MS);
    const fingerprint = fingerprintOf(request);
    return { client: this.#name, service, request, fingerprint, startMs, endMs, outcome };
  }

  /** Whichever it happens to be, as behind a load balancer. */
  #pickService(): Target["services"][number] {
    const { services } = this.#target;
    const nowMs = performance.now();
    const open = services.filter(({ name }) => (this.#avoidUntilMs.get(name) ?? 0) <= nowMs);
    const service = pickFrom(open) ?? pickFrom(services);
    if (service === null) throw new Error("there is no service to call");
    return service;
  }
}
