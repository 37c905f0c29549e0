import { type Agent, type IncomingMessage, request } from "node:http";
import type { CallOutcome, ClientRequest } from "../history/call.ts";
import { toBody } from "./request-body.ts";

/** The API processes of one installation, any of which may be asked anything. */
export type Target = {
  readonly services: readonly { readonly name: string; readonly port: number }[];
  readonly secret: string;
};

const TIMEOUT_MS = 5_000;

/** Sends one request once, and says what the caller of it can know. Never rejects. */
export function post(
  { port, secret }: { port: number; secret: string },
  agent: Agent,
  what: ClientRequest,
): Promise<CallOutcome> {
  const body = toBody(what);
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
        path: `/v1/${what.endpoint}`,
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
        response.on("end", () => settle(judge(response, Buffer.concat(chunks).toString())));
        // After "end" this settles nothing any more.
        response.on("close", () => lose(new Error("closed")));
      },
    );
    const timer = setTimeout(() => sent.destroy(new Error("timeout")), TIMEOUT_MS);
    sent.on("error", lose);
    sent.end(body);
  });
}

function judge(response: IncomingMessage, text: string): CallOutcome {
  const status = response.statusCode ?? 0;
  if (!response.complete) return { kind: "info", status: null, reason: "truncated" };
  if (status === 200) {
    const isReplay = response.headers["idempotent-replayed"] === "true";
    return { kind: "ok", body: text, isReplay };
  }
  const code = findField(text, "code") ?? "";
  if (status >= 400 && status < 500)
    return { kind: "fail", status, code, conflict: findField(text, "conflict") };
  return { kind: "info", status, reason: code };
}

function findField(text: string, name: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) return null;
    const value = Object.entries(body).find(([field]) => field === name)?.[1];
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

function reasonOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
