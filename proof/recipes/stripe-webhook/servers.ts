import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { Subscription } from "./stripe-objects.ts";

export const STRIPE_SECRET_KEY = "rk_test_local";

export type LocalStripe = {
  readonly url: string;
  /** The current state at Stripe, newest first, whatever its events contain. */
  subscriptions: readonly Subscription[];
  /** Delays the next response, with the state at the time of the request, until `release` is called. */
  holdNextAnswer(): { asked: Promise<void>; release: () => void };
};

/** Serves the one request that the recipe makes, and checks its headers and parameters. */
export async function startLocalStripe(): Promise<LocalStripe> {
  let gate: { asked: () => void; opened: Promise<void> } | null = null;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stripe");
    const isUnderstood =
      pathname === "/v1/subscriptions" &&
      request.headers.authorization === `Bearer ${STRIPE_SECRET_KEY}` &&
      request.headers["stripe-version"] === "2025-03-31.basil" &&
      searchParams.get("status") === "all" &&
      searchParams.getAll("expand[]").join() === "data.latest_invoice,data.schedule";
    const data = stripe.subscriptions.filter(({ customer }) => customer === searchParams.get("customer"));
    const held = gate;
    gate = null;
    held?.asked();
    await held?.opened;
    response.writeHead(isUnderstood ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data }));
  });
  const stripe: LocalStripe = {
    url: await listen(server),
    subscriptions: [],
    holdNextAnswer() {
      const asked = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      gate = { asked: asked.resolve, opened: opened.promise };
      return { asked: asked.promise, release: opened.resolve };
    },
  };
  return stripe;
}

/** `cut`: before the request reaches Purser. `cut_after`: after Purser has executed it, before the response. */
export type LineState = "up" | "cut" | "cut_after";

export type LineToPurser = { readonly url: string; state: LineState };

/** A proxy between the recipe and Purser that can fail as networks do. */
export async function startLineTo(purserUrl: string): Promise<LineToPurser> {
  const server = createServer(async (request, response) => {
    if (line.state === "cut") return void request.socket.destroy();
    const body = await buffer(request);
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await fetch(`${purserUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (line.state === "cut_after") return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  const line: LineToPurser = { url: await listen(server), state: "up" };
  return line;
}

/** Listens on a free port until the test ends. Returns the server's URL. */
async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
