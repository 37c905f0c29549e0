import * as http from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";
import { TLSSocket } from "node:tls";
import { VERSION } from "../primitives/version.ts";
import type { Resolve } from "./resolve.ts";
import { type SignedContent, signatureHeader } from "./sign.ts";
import { guardLookup, LookupFailed, refuseTarget, type TargetPolicy } from "./target.ts";

const TIMEOUT_MS = 10_000;
const TEXT_LENGTH_MAX = 1_000;
/** Enough for `TEXT_LENGTH_MAX` characters, which have up to 4 bytes in UTF-8. */
const TEXT_BYTES_MAX = 4 * TEXT_LENGTH_MAX;
const BODY_BYTES_MAX = 65_536;
const MESSAGE_LENGTH_MAX = 300;
const INCOMPLETE = "The connection closed before the response was complete";

const CONNECTIONS = {
  keepAlive: true,
  // Not limited here, because a request that waits for a connection uses up its timeout. `Deliverer` limits the requests.
  maxSockets: Number.POSITIVE_INFINITY,
  maxFreeSockets: 4,
  // Idle time of a connection. Less than 5 s, after which many servers close it.
  timeout: 4_000,
  // Time for one of several addresses of a host. Node's default of 250 ms is too short for a distant server.
  autoSelectFamilyAttemptTimeout: 1_000,
} as const;

export type Webhook = SignedContent & {
  readonly url: string;
  /** Current secret, and during a rotation also the previous one. */
  readonly secrets: readonly string[];
};

type Answered = { readonly kind: "answered"; readonly status: number; readonly text: string };
type Failed = {
  readonly kind: "failed";
  readonly reason: "refused_address" | "dns" | "timeout" | "tls" | "connection";
  readonly message: string;
};
type Outcome = Answered | Failed;

/** The endpoint's response, or why there was none. */
export type Answer = Outcome & { readonly durationMs: number };

export type SenderOptions = TargetPolicy & {
  /** Limit for the whole attempt, from DNS to the end of the response body. */
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
};

export function isDelivered(answer: Answer): boolean {
  return answer.kind === "answered" && answer.status >= 200 && answer.status < 300;
}

/** Sends webhooks over HTTP/1.1. Does not follow redirects or use a proxy, because either could lead to a private address. */
export class WebhookSender {
  readonly #policy: TargetPolicy;
  readonly #timeoutMs: number;
  readonly #lookup: LookupFunction;
  readonly #http = new http.Agent(CONNECTIONS);
  readonly #https = new https.Agent(CONNECTIONS);
  /** Functions that end the attempts in progress. */
  readonly #running = new Set<(failure: Failed) => void>();
  #isClosed = false;

  constructor({ allowPrivate, timeoutMs = TIMEOUT_MS, resolve }: SenderOptions) {
    this.#policy = { allowPrivate };
    this.#timeoutMs = timeoutMs;
    this.#lookup = guardLookup(this.#policy, resolve);
  }

  /** Makes one attempt to deliver a webhook. Never throws. */
  async send(webhook: Webhook): Promise<Answer> {
    const startedAt = performance.now();
    const outcome = await this.#attempt(webhook).catch((error: unknown) => failureOf(error));
    return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Ends all attempts in progress and closes all connections. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running) stop(failed("connection", "The sender was closed"));
    this.#http.destroy();
    this.#https.destroy();
  }

  async #attempt({ url, secrets, ...content }: Webhook): Promise<Outcome> {
    if (this.#isClosed) return failed("connection", "The sender was closed");
    const refusal = refuseTarget(url, this.#policy);
    if (refusal !== null) return failed("refused_address", `The URL ${refusal}`);
    const target = new URL(url);
    const body = Buffer.from(content.body);
    const options: https.RequestOptions = {
      method: "POST",
      agent: target.protocol === "https:" ? this.#https : this.#http,
      lookup: this.#lookup,
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
      rejectUnauthorized: true,
      headers: {
        "content-type": "application/json",
        "content-length": body.length,
        "user-agent": `Purser/${VERSION}`,
        "webhook-id": content.id,
        "webhook-timestamp": content.timestamp,
        "webhook-signature": signatureHeader(secrets, content),
      },
    };
    const { promise: stopped, resolve: stop } = Promise.withResolvers<Failed>();
    const late = failed("timeout", `No complete response within ${this.#timeoutMs} ms`);
    const timer = setTimeout(stop, this.#timeoutMs, late);
    this.#running.add(stop);
    try {
      const first = await exchange(target, options, body, stopped);
      if (!first.isStale) return first.outcome;
      // Without the agent, whose other idle connections can be stale too.
      const second = await exchange(target, { ...options, agent: false }, body, stopped);
      return second.outcome;
    } finally {
      clearTimeout(timer);
      this.#running.delete(stop);
    }
  }
}

type Exchange = {
  readonly outcome: Outcome;
  /** Whether the server closed an idle connection just before this request. The request can be repeated. */
  readonly isStale: boolean;
};

/** Sends one request on one connection. `stopped` ends it early. */
function exchange(
  target: URL,
  options: https.RequestOptions,
  body: Buffer,
  stopped: Promise<Failed>,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const { request } = target.protocol === "https:" ? https : http;
    const outgoing = request(target, options);
    const settle = (outcome: Outcome, isStale = false) => resolve({ outcome, isStale });
    // Settles before the request ends, because a request without a connection reports nothing when it is destroyed.
    stopped.then((failure) => {
      settle(failure);
      outgoing.destroy();
    });
    let bytesBefore = 0;
    outgoing.on("socket", (socket) => {
      bytesBefore = socket.bytesRead;
    });
    outgoing.on("error", (error) => {
      const { reusedSocket, socket } = outgoing;
      const isClosed = ["ECONNRESET", "EPIPE"].includes(codeOf(error));
      settle(failureOf(error, socket), reusedSocket && isClosed && socket?.bytesRead === bytesBefore);
    });
    outgoing.on("response", (incoming) => {
      incoming.on("error", (error) => settle(failureOf(error)));
      receive(incoming, (answer) => {
        settle(answer);
        if (!incoming.complete) outgoing.destroy();
      });
    });
    // A connection can also close without an error, for example after a switch to another protocol.
    outgoing.on("close", () => settle(failed("connection", INCOMPLETE)));
    outgoing.end(body);
  });
}

/** Reads a response body to its end, or to its first 64 KiB. */
function receive(incoming: http.IncomingMessage, settle: (answer: Answered) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const answer = () =>
    settle({ kind: "answered", status: incoming.statusCode ?? 0, text: textOf(Buffer.concat(chunks)) });
  incoming.on("data", (chunk: Buffer) => {
    if (size < TEXT_BYTES_MAX) chunks.push(chunk);
    size += chunk.length;
    if (size >= BODY_BYTES_MAX) answer();
  });
  incoming.on("end", answer);
}

/** The start of a body as text that can be stored and shown. A character that is cut off at the end is left out. */
function textOf(body: Buffer): string {
  const text = new TextDecoder().decode(body.subarray(0, TEXT_BYTES_MAX), { stream: true });
  return printable(text).slice(0, TEXT_LENGTH_MAX).toWellFormed();
}

/** Removes control characters, except for tabs and line feeds. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

function failureOf(error: unknown, socket: unknown = null): Failed {
  if (error instanceof LookupFailed) return failed(error.reason, error.message);
  const code = codeOf(error);
  const isUntrusted = socket instanceof TLSSocket && Boolean(socket.authorizationError);
  if (isUntrusted || /^(ERR_TLS|ERR_SSL|EPROTO)/.test(code))
    return failed("tls", `The TLS connection failed (${code})`);
  return failed("connection", `The connection failed (${code})`);
}

function failed(reason: Failed["reason"], message: string): Failed {
  return { kind: "failed", reason, message: printable(message).slice(0, MESSAGE_LENGTH_MAX).toWellFormed() };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error ? String(error.code) : error.message;
}
