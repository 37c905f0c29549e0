import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/**
 * - `cut`: the connection breaks before the request reaches Purser.
 * - `cut_after`: the connection breaks after Purser has executed the request, before the response.
 * - `cut_within`: the connection breaks in the middle of the response.
 * - `silent_after`: Purser executes the request, but no response arrives.
 */
export type LineState = "up" | "cut" | "cut_after" | "cut_within" | "silent_after" | OwnResponse;

/** A response from this proxy instead of Purser, such as an overload error. The request does not reach Purser. */
export type OwnResponse = {
  readonly status: number;
  readonly text: string;
  readonly headers?: Record<string, string>;
};

export type LineToPurser = {
  readonly url: string;
  state: LineState;
  /** One state for each of the next requests. Later requests use `state`. */
  readonly next: LineState[];
  readonly seen: { readonly atMs: number; readonly path: string; readonly body: string }[];
};

/** Starts a proxy between a recipe and Purser that simulates network failures. */
export async function startLineTo(purserUrl: string): Promise<LineToPurser> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const path = request.url ?? "";
    line.seen.push({ atMs: performance.now(), path, body: body.toString() });
    const state = line.next.shift() ?? line.state;
    if (state === "cut") return void request.socket.destroy();
    if (typeof state === "object")
      return void response.writeHead(state.status, state.headers).end(state.text);
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await fetch(`${purserUrl}${path}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (state === "cut_after") return void request.socket.destroy();
    if (state === "silent_after") return;
    response.writeHead(answer.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    if (state === "up") return void response.end(text);
    response.write(text.slice(0, -10), () => request.socket.destroy());
  });
  const line: LineToPurser = { url: await listen(server), state: "up", next: [], seen: [] };
  return line;
}

/** Listens on a free port until the test ends. Returns the server's URL. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
