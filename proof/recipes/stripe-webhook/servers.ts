import { createServer } from "node:http";
import { listen } from "../line.ts";
import type { Subscription } from "./stripe-objects.ts";

export const STRIPE_SECRET_KEY = "rk_test_local";

export type LocalStripe = {
  readonly url: string;
  /** The current subscriptions at Stripe, newest first. Events may contain older states. */
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
