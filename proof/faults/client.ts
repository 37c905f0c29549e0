import { Agent, type IncomingMessage, request } from "node:http";
import { pickFrom } from "../harness/random.ts";
import type { Call, CallOutcome, ClientRequest, History } from "./history.ts";
import {
  fingerprintOf,
  isRepeatable,
  type KeyedEvent,
  pathOf,
  type RepeatableRequest,
  toBody,
} from "./requests.ts";

/** The API processes of one installation. A client may call any of them. */
export type Target = {
  readonly services: readonly { readonly name: string; readonly port: number }[];
  readonly secret: string;
  /** How long a client waits for a response. Default: 5 s. */
  readonly timeoutMs?: number;
};

const REMEMBERED_MAX = 500;
/** How long a client avoids a process that refused a connection, if another process is available. */
const AVOID_MS = 100;
const TIMEOUT_MS = 5_000;

/** One caller's backend, with its own connections and a list of the requests that it may repeat. */
export class Client {
  readonly #name: string;
  readonly #target: Target;
  readonly #history: History;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #remembered: RepeatableRequest[] = [];
  readonly #avoidUntilMs = new Map<string, number>();
  #sent = 0;

  constructor(name: string, target: Target, history: History) {
    this.#name = name;
    this.#target = target;
    this.#history = history;
  }

  send(request: ClientRequest): Promise<Call> {
    if (isRepeatable(request)) this.#remembered[this.#sent++ % REMEMBERED_MAX] = request;
    return this.#history.record(this.#call(request));
  }

  /** Sends events in one request. Each event is recorded as a separate call with its own result. */
  sendBatch(events: readonly KeyedEvent[]): Promise<Call[]> {
    for (const event of events) this.#remembered[this.#sent++ % REMEMBERED_MAX] = event;
    const body = `{"events":[${events.map(toBody).join(",")}]}`;
    const sent = this.#post("/v1/events/batch", body);
    const calls = events.map(async (request, index): Promise<Call> => {
      const { outcome, ...times } = await sent;
      const own = outcome.kind === "ok" ? toResult(outcome.body, index) : outcome;
      return { ...times, request, fingerprint: fingerprintOf(request), outcome: own };
    });
    return Promise.all(calls.map((call) => this.#history.record(call)));
  }

  /** Picks a request that is safe to repeat and that this client sent earlier, possibly before a crash. */
  findEarlier(): RepeatableRequest | null {
    return pickFrom(this.#remembered);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(request: ClientRequest): Promise<Call> {
    const sent = await this.#post(pathOf(request), toBody(request));
    return { ...sent, request, fingerprint: fingerprintOf(request) };
  }

  async #post(path: string, body: string): Promise<Omit<Call, "request" | "fingerprint">> {
    const { name: service, port } = this.#pickService();
    const startMs = performance.now();
    const { secret, timeoutMs = TIMEOUT_MS } = this.#target;
    const outcome = await post({ port, secret, path, timeoutMs }, this.#agent, body);
    const endMs = performance.now();
    if (outcome.kind === "info" && outcome.reason === "ECONNREFUSED")
      this.#avoidUntilMs.set(service, endMs + AVOID_MS);
    return { client: this.#name, service, startMs, endMs, outcome };
  }

  /** Picks at random, as a load balancer would. */
  #pickService(): Target["services"][number] {
    const { services } = this.#target;
    const nowMs = performance.now();
    const open = services.filter(({ name }) => (this.#avoidUntilMs.get(name) ?? 0) <= nowMs);
    const service = pickFrom(open) ?? pickFrom(services);
    if (service === null) throw new Error("there is no service to call");
    return service;
  }
}

/** Sends a request once and returns the outcome that its caller can observe. Never rejects. */
function post(
  { port, secret, path, timeoutMs }: { port: number; secret: string; path: string; timeoutMs: number },
  agent: Agent,
  body: string,
): Promise<CallOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: CallOutcome): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const lose = (error: Error): void => settle({ kind: "info", status: null, reason: reasonOf(error) });
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        agent,
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", lose);
        response.on("end", () => settle(toOutcome(response, Buffer.concat(chunks).toString())));
        // Has no effect after "end", because the promise is already settled.
        response.on("close", () => lose(new Error("closed")));
      },
    );
    const timer = setTimeout(() => sent.destroy(new Error("timeout")), timeoutMs);
    sent.on("error", lose);
    sent.end(body);
  });
}

function toOutcome(response: IncomingMessage, text: string): CallOutcome {
  const status = response.statusCode ?? 0;
  if (!response.complete) return { kind: "info", status: null, reason: "truncated" };
  if (status === 200)
    return { kind: "ok", body: text, isReplay: response.headers["idempotent-replayed"] === "true" };
  return toError(status, text);
}

/** The outcome of one event, in the form of a single event's response. */
function toResult(text: string, index: number): CallOutcome {
  const { accepted, eventId, replayed, error } = JSON.parse(text).results[index];
  if (accepted === true)
    return { kind: "ok", body: JSON.stringify({ accepted, eventId }), isReplay: replayed };
  return toError(error.status, JSON.stringify(error));
}

function toError(status: number, text: string): CallOutcome {
  const code = findField(text, "code") ?? "";
  if (status >= 400 && status < 500)
    return { kind: "fail", status, code, conflict: findField(text, "conflict") };
  return { kind: "info", status, reason: code };
}

function findField(text: string, name: string): string | null {
  try {
    const value: unknown = Object(JSON.parse(text))[name];
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

function reasonOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
