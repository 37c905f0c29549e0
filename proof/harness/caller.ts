import { randomUUID } from "node:crypto";
import { FEATURE } from "./load/calls.ts";
import type { Project } from "./project.ts";

export type Reply = { readonly status: number; readonly text: string; readonly ms: number };

export type Sent = {
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the project's API key or management token. */
  readonly secret?: string;
};

export type Consumed = {
  readonly allowed: boolean;
  readonly creditsCharged: number;
  readonly consumeId: string;
};

/** A product's backend and its operators, at one process of the service. */
export class Caller {
  readonly #url: string;
  readonly #project: Pick<Project, "apiKey" | "token" | "here">;

  constructor({ url }: { readonly url: string }, project: Pick<Project, "apiKey" | "token" | "here">) {
    this.#url = url;
    this.#project = project;
  }

  /** Whatever the status is. A path without a slash before it is one of the project's environment. */
  async send(method: string, path: string, { body, headers = {}, secret }: Sent = {}): Promise<Reply> {
    const { here, token, apiKey } = this.#project;
    const whole = path.startsWith("/") ? path : `${here}/${path}`;
    const startMs = performance.now();
    const response = await fetch(`${this.#url}${whole}`, {
      method,
      headers: {
        authorization: `Bearer ${secret ?? (whole.startsWith("/v1/") ? apiKey : token)}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(600_000),
    });
    const text = await response.text();
    return { status: response.status, text, ms: performance.now() - startMs };
  }

  /** Throws unless the answer is 2xx. */
  async call(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const reply = await this.send(method, path, sent);
    if (reply.status < 200 || reply.status > 299)
      throw new Error(`${method} ${path} was answered with ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply;
  }

  /** Throws unless the answer is 2xx with JSON in it. */
  async get<Answer>(path: string): Promise<Answer> {
    return JSON.parse((await this.call("GET", path)).text);
  }

  async consume(customerId: string, more: Readonly<Record<string, unknown>> = {}): Promise<Consumed> {
    const body = { customerId, feature: FEATURE, idempotencyKey: randomUUID(), ...more };
    return JSON.parse((await this.call("POST", "/v1/consume", { body })).text);
  }
}
