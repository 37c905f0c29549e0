import type { Call, CallOutcome, ClientRequest } from "../../history/call.ts";

export function callOf(request: ClientRequest, outcome: CallOutcome, startMs = 0): Call {
  const { marker: fingerprint } = request;
  const times = { startMs, endMs: startMs + 5 };
  return { client: "client-0", service: "a", request, fingerprint, ...times, outcome };
}

export const reused = (conflict: "payload" | "endpoint"): CallOutcome => ({
  kind: "fail",
  status: 409,
  code: "idempotency_key_reused",
  conflict,
});

export const UNAVAILABLE: CallOutcome = { kind: "info", status: 503, reason: "unavailable" };
export const OUTCOME_UNKNOWN: CallOutcome = { kind: "info", status: 503, reason: "outcome_unknown" };
export const RESET: CallOutcome = { kind: "info", status: null, reason: "ECONNRESET" };

/** The same answer given again. */
export function again(outcome: CallOutcome): CallOutcome {
  return outcome.kind === "ok" ? { ...outcome, isReplay: true } : outcome;
}
