import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { listen } from "./listen.ts";

export const STRIPE_SECRET_KEY = "rk_test_local";
export const WEBHOOK_SECRET = "whsec_local";

export type Subscription = {
  readonly id: string;
  readonly customer: string;
  readonly status: "incomplete" | "active" | "trialing" | "past_due" | "canceled";
  readonly metadata: Record<string, string>;
  readonly billing_cycle_anchor: number;
  /** With `cancel_at_period_end` the period's end. */
  readonly cancel_at: number | null;
  readonly latest_invoice: {
    readonly status: "draft" | "open" | "paid";
    readonly billing_reason: "subscription_create" | "subscription_cycle" | "subscription_update";
    readonly created: number;
  } | null;
  readonly items: {
    readonly data: readonly {
      readonly price: { readonly id: string };
      readonly current_period_start: number;
      readonly current_period_end: number;
    }[];
  };
};

export type LocalStripe = {
  readonly url: string;
  /** What Stripe says now, the newest first, whatever its events said. */
  subscriptions: readonly Subscription[];
  /** Keeps the next answer back, as it was when asked for, until the returned function is called. */
  holdNextAnswer(): { asked: Promise<void>; release: () => void };
};

/** Answers the one question that the recipe has, and insists on how it is asked. */
export async function startLocalStripe(): Promise<LocalStripe> {
  let gate: { asked: () => void; opened: Promise<void> } | null = null;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stripe");
    const isUnderstood =
      pathname === "/v1/subscriptions" &&
      request.headers.authorization === `Bearer ${STRIPE_SECRET_KEY}` &&
      request.headers["stripe-version"] === "2025-03-31.basil" &&
      searchParams.get("status") === "all" &&
      searchParams.get("expand[]") === "data.latest_invoice";
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

export type StripeEvent = {
  readonly id: string;
  readonly type: string;
  readonly livemode: boolean;
  readonly data: { readonly object: object };
};

export function makeEvent(type: string, object: object, livemode = false): StripeEvent {
  return { id: `evt_${randomUUID()}`, type, livemode, data: { object } };
}

/** Stripe signs each delivery anew, with the time of that delivery. */
export function sign(
  body: string,
  { secret = WEBHOOK_SECRET, time = nowSeconds() }: { secret?: string; time?: number } = {},
): string {
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return `t=${time},v1=${signature}`;
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
