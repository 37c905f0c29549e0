export const CUSTOMERS = 100_000;
export const FEATURE = "image.render";

/** One kind of call, for wrk and the open loop. `%d` is the customer's number, `%s` the idempotency key. */
export type Call = {
  readonly path: string;
  readonly body: string;
  /** A string in every successful response. Null if counting the rows afterward also proves success. */
  readonly proof: string | null;
  /** For a batch: how many events each request has. `body` is one of them. */
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
  /** Half of the calls: each hold is then settled. */
  holds: {
    path: "/v1/holds",
    body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1,"idempotencyKey":"%s"}`,
    proof: '"allowed":true',
  },
  events: { path: "/v1/events", body: EVENT, proof: null },
  batch: { path: "/v1/events/batch", body: EVENT, proof: null, events: BATCH_EVENTS },
};

/** Accepts denials as well. */
export const ANY_CHECK: Call = { ...CALLS.check, proof: '"allowed":' };
