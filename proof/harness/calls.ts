export const CUSTOMERS = 100_000;
export const FEATURE = "image.render";

/** One kind of call, for wrk and the open loop. `%d` is the customer's number, `%s` the idempotency key. */
export type Call = {
  readonly path: string;
  readonly body: string;
  /** A string in every successful response. Null if success is proven by counting rows afterward. */
  readonly proof: string | null;
  /** For a batch: the number of events in each request. `body` is one event. */
  readonly events?: number;
};

export type CallName = "consume" | "check" | "events" | "batch" | "holds";

export const BATCH_EVENTS = 100;
const EVENT =
  '{"customerId":"customer_%d","event":"tokens.generated","quantity":1250,"metadata":{"model":"small"},"idempotencyKey":"%s"}';

export const CALLS: Readonly<Record<CallName, Call>> = {
  consume: {
    path: "/v1/consume",
    body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1,"idempotencyKey":"%s"}`,
    proof: '"allowed":true',
  },
  check: {
    path: "/v1/check",
    body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1}`,
    proof: '"allowed":true',
  },
  /** Half of the calls open a hold, and the other half settle these holds. */
  holds: {
    path: "/v1/holds",
    body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1,"idempotencyKey":"%s"}`,
    proof: '"allowed":true',
  },
  events: { path: "/v1/events", body: EVENT, proof: null },
  batch: { path: "/v1/events/batch", body: EVENT, proof: null, events: BATCH_EVENTS },
};

/** Counts denials as successes too. */
export const ANY_CHECK: Call = { ...CALLS.check, proof: '"allowed":' };
