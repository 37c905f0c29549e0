import { nowSeconds, type Subscription } from "./local-stripe.ts";

export const DAY_SECONDS = 86_400;

/** A paid month that began ten days ago, of the customer "org/1". */
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
    items: { data: [{ price: { id: price }, current_period_start: from, current_period_end: until }] },
  };
}

/** The renewal of the present period is not collected yet. */
export function owe(
  subscription: Subscription,
  change: Partial<Pick<NonNullable<Subscription["latest_invoice"]>, "billing_reason" | "created">> = {},
): Subscription {
  const created = subscription.items.data[0]?.current_period_start ?? 0;
  const invoice = { status: "open", billing_reason: "subscription_cycle", created } as const;
  return { ...subscription, latest_invoice: { ...invoice, ...change } };
}

/** By the customer, in Stripe's portal: it runs until the paid period is over. */
export function cancelAtPeriodEnd(subscription: Subscription): Subscription {
  return { ...subscription, cancel_at: subscription.items.data[0]?.current_period_end ?? null };
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
