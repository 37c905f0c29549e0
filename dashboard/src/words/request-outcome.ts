import { describeReason } from "./reason-words.ts";

type Asked = {
  readonly endpoint: "check" | "consume" | "events";
  readonly status: number;
  readonly code: string | null;
  readonly reason: string | null;
};

/** `denied` is an answer; `refused` is the caller's mistake, and `failed` is ours. */
export type Outcome = {
  readonly kind: "ok" | "denied" | "refused" | "failed";
  readonly name: string;
  /** Why, where it did not go well. */
  readonly why: string | null;
};

/** How a request went, in words. */
export function outcomeOf({ endpoint, status, code, reason }: Asked): Outcome {
  if (reason !== null) return { kind: "denied", name: "Denied", why: describeReason(reason) };
  if (status >= 500)
    return { kind: "failed", name: "Failed", why: describeProblem(code ?? "internal_error") };
  if (status >= 400)
    return { kind: "refused", name: "Refused", why: describeProblem(code ?? "invalid_request") };
  return { kind: "ok", name: WENT_WELL[endpoint], why: null };
}

const WENT_WELL = { check: "Available", consume: "Allowed", events: "Recorded" } as const;

/** What a problem's code means, in a few words: "Unknown feature". */
export function describeProblem(code: string): string {
  return PROBLEMS.get(code) ?? code;
}

export const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["idempotency_key_reused", "Key was used for another request"],
  ["feature_not_found", "Unknown feature"],
  ["invalid_request", "Not a valid request"],
  ["invalid_json", "Not valid JSON"],
  ["timestamp_out_of_range", "Timestamp too old or too far ahead"],
  ["metadata_limit_exceeded", "Too much metadata"],
  ["scope_missing", "The API key lacks the scope"],
  ["browser_not_allowed", "Came from a browser"],
  ["tls_required", "Came without HTTPS"],
  ["body_too_large", "Body too large"],
  ["unsupported_media_type", "Not sent as JSON"],
  ["rate_limited", "Too many requests"],
  ["overloaded", "Overloaded, not executed"],
  ["unavailable", "Unavailable, not executed"],
  ["outcome_unknown", "Outcome unknown, safe to retry with its key"],
  ["internal_error", "Purser failed"],
]);
