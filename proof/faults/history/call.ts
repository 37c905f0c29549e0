/** What a client means to record. Copies under one key are the same request, so they share its marker. */
export type EventRequest = {
  readonly key: string | null;
  /** Goes into the metadata: the one thing by which a stored row is known to come from this request. */
  readonly marker: string;
  readonly customerId: string;
  readonly event: string;
  readonly quantity: number;
  /** Sent with a timestamp far too old: the only right answer is a refusal. */
  readonly isTooOld: boolean;
};

export type CallOutcome =
  /** A reply 200, read whole. */
  | { readonly kind: "ok"; readonly body: string; readonly eventId: string; readonly isReplay: boolean }
  /** A definite 4xx. */
  | { readonly kind: "fail"; readonly status: number; readonly code: string }
  /** A timeout, a reset or a 5xx; `reason` is the problem's code or the socket's. */
  | { readonly kind: "info"; readonly status: number | null; readonly reason: string };

/** One request sent once, and what came of it. Times are milliseconds of this process's monotonic clock. */
export type Call = {
  readonly client: string;
  readonly request: EventRequest;
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

export function isAcknowledged({ outcome }: Call): boolean {
  return outcome.kind === "ok";
}
