import { randomUUID } from "node:crypto";
import { FEATURE } from "./calls.ts";
import type { Project } from "./project.ts";

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ms: number;
};

export type Sent = {
  /** A string is sent unchanged. Any other value is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** An API key, management token or session. Null sends no credential. */
  readonly secret?: string | null;
};

/** Returns the response with any status. */
export async function send(
  url: string,
  method: string,
  { body, headers = {}, secret = null }: Sent,
): Promise<Reply> {
  const startMs = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(600_000),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, ms: performance.now() - startMs };
}

export type Consumed = {
  readonly allowed: boolean;
  readonly creditsCharged: number;
  readonly consumeId: string;
};

/** Calls one process of the service, as a product's backend or an operator. */
export class Caller {
  readonly #url: string;
  readonly #project: Pick<Project, "apiKey" | "token" | "here">;

  constructor({ url }: { readonly url: string }, project: Pick<Project, "apiKey" | "token" | "here">) {
    this.#url = url;
    this.#project = project;
  }

  /** Returns the response with any status. A path without a leading slash is relative to the project's live environment. */
  send(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const { here, token, apiKey } = this.#project;
    const whole = path.startsWith("/") ? path : `${here}/${path}`;
    return send(`${this.#url}${whole}`, method, {
      secret: whole.startsWith("/v1/") ? apiKey : token,
      ...sent,
    });
  }

  /** Throws unless the status is 2xx. */
  async call(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const reply = await this.send(method, path, sent);
    if (reply.status < 200 || reply.status > 299)
      throw new Error(`${method} ${path} returned ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply;
  }

  /** Throws unless the status is 2xx and the body is JSON. */
  async get<Answer>(path: string): Promise<Answer> {
    return JSON.parse((await this.call("GET", path)).text);
  }

  async consume(customerId: string, more: Readonly<Record<string, unknown>> = {}): Promise<Consumed> {
    const body = { customerId, feature: FEATURE, idempotencyKey: randomUUID(), ...more };
    return JSON.parse((await this.call("POST", "/v1/consume", { body })).text);
  }
}
