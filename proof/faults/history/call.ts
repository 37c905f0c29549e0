import { FEATURES } from "../catalog.ts";

type Sent = {
  /** Goes into the metadata: the one thing by which a stored row is known to come from this request. */
  readonly marker: string;
  readonly customerId: string;
  readonly quantity: number;
};

/** What a client means to do. Copies under one key are the same request, so they share its marker. */
export type EventRequest = Sent & {
  readonly endpoint: "events";
  readonly key: string | null;
  readonly event: string;
  /** Sent with a timestamp far too old: the only right answer is a refusal. */
  readonly isTooOld: boolean;
};

export type ConsumeRequest = Sent & {
  readonly endpoint: "consume";
  readonly key: string;
  readonly feature: string;
};

/** Sent with all fields of a consume, its key too, which a check must ignore. */
export type CheckRequest = Sent & {
  readonly endpoint: "check";
  readonly key: string;
  readonly feature: string;
};

export type ClientRequest = EventRequest | ConsumeRequest | CheckRequest;

export type CallOutcome =
  /** A reply 200, read whole. */
  | { readonly kind: "ok"; readonly body: string; readonly isReplay: boolean }
  /** A definite 4xx; `conflict` as the problem names it, if it does. */
  | {
      readonly kind: "fail";
      readonly status: number;
      readonly code: string;
      readonly conflict: string | null;
    }
  /** A timeout, a reset or a 5xx; `reason` is the problem's code or the socket's. */
  | { readonly kind: "info"; readonly status: number | null; readonly reason: string };

/** One request sent once, and what came of it. Times are milliseconds of this process's monotonic clock. */
export type Call = {
  readonly client: string;
  /** The API process it was sent to. */
  readonly service: string;
  readonly request: ClientRequest;
  readonly fingerprint: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: CallOutcome;
};

/** Reasons that promise "nothing was executed"; the promise is held against the database like a refusal. */
const PROMISES_OF_NOTHING = new Set([
  "overloaded",
  "unavailable",
  "internal_error",
  // The service was not there to accept the connection, so the request was never sent.
  "ECONNREFUSED",
]);

/** Whether the request may have been executed for all this call can tell. */
export function isUnknown({ outcome }: Call): boolean {
  return outcome.kind === "info" && !PROMISES_OF_NOTHING.has(outcome.reason);
}

/** The key a request claims for itself. A check claims none, whatever it carries. */
export function claimedKey(request: ClientRequest): string | null {
  return request.endpoint === "check" ? null : request.key;
}

/** Of a request that can only be refused, and only after its key was looked up. */
export function findDueRefusal(request: ClientRequest): { status: number; code: string } | null {
  if (request.endpoint === "events")
    return request.isTooOld ? { status: 422, code: "timestamp_out_of_range" } : null;
  return Object.hasOwn(FEATURES, request.feature) ? null : { status: 404, code: "feature_not_found" };
}
