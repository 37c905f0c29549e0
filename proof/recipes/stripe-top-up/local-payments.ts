import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { listen } from "../line.ts";
import { STRIPE_SECRET_KEY } from "../stripe-webhook/servers.ts";

export type Payment = {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  amount_received: number;
  readonly currency: string;
  metadata: Readonly<Record<string, string>>;
  status: "succeeded" | "processing" | "requires_payment_method" | "canceled";
};

type Answer = { readonly status: number; readonly body: object };

/** What Stripe remembers for an idempotency key. `answer` is null while the first request runs. */
type Remembered = { readonly fields: string; answer: Answer | null };

export type LocalPayments = {
  readonly url: string;
  /** Newest first, as Stripe lists them. */
  readonly payments: Payment[];
  /** The outcome of the next payments. */
  outcome: "succeeded" | "declined" | "processing";
  /** How many of the next payments are made without a response. */
  lost: number;
  /** How long a payment takes. */
  delayMs: number;
  /** As Stripe may do after 24 hours. */
  forgetKeys(): void;
  charged(): number;
  /** Completes the payments that are processed. */
  complete(): void;
  /** Moves the payments of a top-up to another ID. */
  rename(from: string, to: string): void;
};

/** Serves the requests of the recipe as Stripe documents them: keys that are in use, reused with other parameters, or forgotten. */
export async function startLocalPayments(): Promise<LocalPayments> {
  const keys = new Map<string, Remembered>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = await respond(request, body);
    if (answer === null) return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(answer.body));
  });

  async function respond(request: IncomingMessage, body: string): Promise<Answer | null> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stripe");
    const { authorization, "stripe-version": version, "idempotency-key": key } = request.headers;
    if (authorization !== `Bearer ${STRIPE_SECRET_KEY}` || version !== "2025-03-31.basil")
      return refuse(401, "not_authorized");
    const asked = `${request.method} ${pathname}`;
    if (asked === "GET /v1/customers/cus_1")
      return { status: 200, body: { id: "cus_1", invoice_settings: { default_payment_method: "pm_1" } } };
    if (asked === "GET /v1/payment_intents") return list(searchParams);
    const canceled = /^POST \/v1\/payment_intents\/(pi_\d+)\/cancel$/.exec(asked)?.[1];
    if (canceled !== undefined) return cancel(canceled);
    if (asked === "POST /v1/payment_intents" && typeof key === "string") return create(key, body);
    return refuse(404, "resource_missing");
  }

  function list(query: URLSearchParams): Answer {
    const limit = Number(query.get("limit"));
    const after = stripe.payments.findIndex(({ id }) => id === query.get("starting_after"));
    const rest = stripe.payments
      .slice(after + 1)
      .filter(({ customer }) => customer === query.get("customer"));
    return { status: 200, body: { data: rest.slice(0, limit), has_more: rest.length > limit } };
  }

  function cancel(id: string): Answer {
    const payment = stripe.payments.find((other) => other.id === id);
    if (payment?.status !== "requires_payment_method") return refuse(400, "payment_intent_unexpected_state");
    payment.status = "canceled";
    return { status: 200, body: payment };
  }

  async function create(key: string, fields: string): Promise<Answer | null> {
    const known = keys.get(key);
    if (known !== undefined && known.fields !== fields) return refuse(400, "idempotency_error");
    if (known !== undefined) return known.answer ?? refuse(409, "idempotency_key_in_use");
    const remembered: Remembered = { fields, answer: null };
    keys.set(key, remembered);
    await setTimeout(stripe.delayMs);
    const answer = pay(new URLSearchParams(fields));
    remembered.answer = answer;
    if (stripe.lost === 0) return answer;
    stripe.lost -= 1;
    return null;
  }

  function pay(fields: URLSearchParams): Answer {
    const metadata = Object.fromEntries(
      [...fields].flatMap(([name, value]) => {
        const field = /^metadata\[(\w+)\]$/.exec(name)?.[1];
        return field === undefined ? [] : [[field, value]];
      }),
    );
    const isUnderstood =
      fields.get("off_session") === "true" &&
      fields.get("confirm") === "true" &&
      fields.has("payment_method");
    if (!isUnderstood) return refuse(400, "parameter_missing");
    const amount = Number(fields.get("amount"));
    const { outcome } = stripe;
    const payment: Payment = {
      id: `pi_${stripe.payments.length + 1}`,
      customer: fields.get("customer") ?? "",
      amount,
      amount_received: outcome === "succeeded" ? amount : 0,
      currency: fields.get("currency") ?? "",
      metadata,
      status: outcome === "declined" ? "requires_payment_method" : outcome,
    };
    stripe.payments.unshift(payment);
    if (outcome !== "declined") return { status: 200, body: { ...payment } };
    return refuse(402, "card_declined", { decline_code: "insufficient_funds", payment_intent: payment });
  }

  const stripe: LocalPayments = {
    url: await listen(server),
    payments: [],
    outcome: "succeeded",
    lost: 0,
    delayMs: 0,
    forgetKeys: () => keys.clear(),
    charged: () => stripe.payments.filter(({ status }) => status === "succeeded").length,
    complete: () => {
      for (const payment of stripe.payments)
        if (payment.status === "processing")
          Object.assign(payment, { status: "succeeded", amount_received: payment.amount });
    },
    rename: (from, topUpId) => {
      for (const payment of stripe.payments)
        if (payment.metadata["topUpId"] === from) payment.metadata = { ...payment.metadata, topUpId };
    },
  };
  return stripe;
}

function refuse(status: number, code: string, more: object = {}): Answer {
  return { status, body: { error: { code, ...more } } };
}
