import { createHmac, randomUUID } from "node:crypto";

export const WEBHOOK_SECRET = "whsec_local";
export const DAY_SECONDS = 86_400;

export type Subscription = {
  readonly id: string;
  readonly customer: string;
  readonly status: "incomplete" | "active" | "trialing" | "past_due" | "canceled";
  readonly metadata: Record<string, string>;
  readonly billing_cycle_anchor: number;
  /** The period's end if `cancel_at_period_end` is set. */
  readonly cancel_at: number | null;
  readonly latest_invoice: {
    readonly status: "draft" | "open" | "paid";
    readonly billing_reason: "subscription_create" | "subscription_cycle" | "subscription_update";
    readonly created: number;
  } | null;
  /** An expanded schedule. Phases refer to prices by ID. */
  readonly schedule: {
    readonly id: string;
    readonly phases: readonly {
      readonly start_date: number;
      readonly items: readonly { readonly price: string }[];
    }[];
  } | null;
  readonly items: {
    readonly data: readonly {
      readonly price: { readonly id: string };
      readonly current_period_start: number;
      readonly current_period_end: number;
    }[];
  };
};

/** A paid month of the customer "org/1", which started ten days ago. */
export function subscribe(
  price: string,
  {
    from = nowSeconds() - 10 * DAY_SECONDS,
    until = nowSeconds() + 20 * DAY_SECONDS,
  }: { from?: number; until?: number } = {},
): Subscription {
  return {
    id: "sub_1",
    customer: "cus_1",
    status: "active",
    metadata: { customerId: "org/1" },
    billing_cycle_anchor: from,
    cancel_at: null,
    latest_invoice: { status: "paid", billing_reason: "subscription_cycle", created: from },
    schedule: null,
    items: { data: [{ price: { id: price }, current_period_start: from, current_period_end: until }] },
  };
}

/** Returns the subscription with an unpaid renewal of the current period. */
export function owe(
  subscription: Subscription,
  change: Partial<Pick<NonNullable<Subscription["latest_invoice"]>, "billing_reason" | "created">> = {},
): Subscription {
  const created = subscription.items.data[0]?.current_period_start ?? 0;
  const invoice = { status: "open", billing_reason: "subscription_cycle", created } as const;
  return { ...subscription, latest_invoice: { ...invoice, ...change } };
}

/** As in Stripe's customer portal: the subscription runs until the end of the paid period. */
export function cancelAtPeriodEnd(subscription: Subscription): Subscription {
  return { ...subscription, cancel_at: subscription.items.data[0]?.current_period_end ?? null };
}

/** As in Stripe's customer portal: another price from the end of the paid period. */
export function changeAtPeriodEnd(subscription: Subscription, price: string): Subscription {
  const phases = subscription.items.data.flatMap((item) => [
    { start_date: item.current_period_start, items: [{ price: item.price.id }] },
    { start_date: item.current_period_end, items: [{ price }] },
  ]);
  return { ...subscription, schedule: { id: "sub_sched_1", phases } };
}

export function cancel(subscription: Subscription): Subscription {
  return { ...subscription, status: "canceled" };
}

/** 500 credits for 49 euros. */
export function checkout(change: object = {}): object {
  return {
    id: "cs_1",
    mode: "payment",
    payment_status: "paid",
    payment_intent: "pi_1",
    client_reference_id: null,
    metadata: { customerId: "org/1", credits: "500" },
    amount_total: 4900,
    currency: "eur",
    ...change,
  };
}

export function toTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
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

/** Stripe signs each delivery with the time of that delivery. */
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

export const SEEDS = [1, 2, 3, 4];

/** Each event three times, in an order determined by the seed. */
export function shuffled<T>(events: readonly T[], seed: number): T[] {
  const deliveries = [...events, ...events, ...events];
  let state = seed + 1;
  for (let last = deliveries.length - 1; last > 0; last--) {
    // Park and Miller's generator.
    state = (state * 48_271) % 2_147_483_647;
    const other = state % (last + 1);
    [deliveries[last], deliveries[other]] = [deliveries[other], deliveries[last]] as [T, T];
  }
  return deliveries;
}
