import { countOf, formatCount } from "./numbers.ts";

type Asked = {
  readonly endpoint: "check" | "consume" | "events";
  readonly status: number;
  readonly code: string | null;
  readonly reason: string | null;
};

/** `denied` is an answer; `refused` is the caller's mistake, and `failed` is ours. */
type Outcome = {
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

/** Why something was denied, in a few words: "Not enough credits". */
export function describeReason(reason: string): string {
  return REASONS.get(reason) ?? asWords(reason);
}

const REASONS = new Map([
  ["customer_blocked", "The customer is blocked"],
  ["customer_not_found", "Nobody knew the customer"],
  ["no_active_plan", "No active plan"],
  ["feature_not_in_plan", "Not part of the plan"],
  ["limit_reached", "The limit is used up"],
  ["insufficient_credits", "Not enough credits"],
]);

/** A later release may know more reasons than this one: "seat_missing" is still "Seat missing". */
function asWords(reason: string): string {
  const words = reason.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

type Story = {
  readonly customerId: string | null;
  readonly charge: { readonly feature: string; readonly quantity: number; readonly credits: number } | null;
  readonly denial: {
    readonly feature: string;
    readonly quantity: number;
    readonly reason: string | null;
  } | null;
  readonly event: { readonly event: string; readonly quantity: number } | null;
};

/** What a key did, in one sentence. */
export function whatKeyDid({ customerId, charge, denial, event }: Story): string {
  const who = customerId ?? "a customer who was erased since";
  if (charge !== null)
    return `Charged ${who} ${countOf(charge.credits, "credit")} for ${formatCount(charge.quantity)} of ${charge.feature}.`;
  if (denial !== null)
    return `Denied ${who} ${formatCount(denial.quantity)} of ${denial.feature}: ${describeReason(denial.reason ?? "").toLowerCase()}.`;
  if (event !== null) return `Recorded ${formatCount(event.quantity)} of ${event.event} for ${who}.`;
  return "An answer is kept under it, and lies before the history that this workspace shows.";
}

type Use = { readonly isReplay: boolean; readonly refused: object | null; readonly code: string | null };

/** "1 answered, 31 replays, 1 refused". */
export function countUses(uses: readonly Use[]): string {
  const refused = uses.filter(({ code }) => code === "idempotency_key_reused").length;
  const replays = uses.filter(({ isReplay }) => isReplay).length;
  const failed = uses.filter(({ code }) => code !== null && code !== "idempotency_key_reused").length;
  const answered = uses.length - refused - replays - failed;
  return [
    ...(answered === 0 ? [] : [`${formatCount(answered)} answered`]),
    ...(replays === 0 ? [] : [countOf(replays, "replay")]),
    ...(refused === 0 ? [] : [`${formatCount(refused)} refused as another request`]),
    ...(failed === 0 ? [] : [countOf(failed, "error")]),
  ].join(", ");
}

type Tried = {
  readonly count: number;
  readonly status: number;
  readonly isReplay: boolean;
  readonly body: Readonly<Record<string, unknown>>;
};

/** "1 charge, 31 replays". */
export function summarizeTries(endpoint: "check" | "consume", answers: readonly Tried[]): string {
  return answers.map((answer) => describeTries(endpoint, answer)).join(", ");
}

/** One group of the same answer: "31 replays". */
export function describeTries(
  endpoint: "check" | "consume",
  { count, status, isReplay, body }: Tried,
): string {
  if (status >= 400) return `${formatCount(count)} refused`;
  if (isReplay) return countOf(count, "replay");
  if (endpoint === "check")
    return `${formatCount(count)} × ${body["allowed"] === true ? "available" : "not available"}`;
  return body["allowed"] === true ? countOf(count, "charge") : countOf(count, "denial");
}

/** What the answer says beyond that; null: nothing. */
export function explainTry({ status, body }: Tried): string | null {
  if (status >= 400) return describeProblem(textOf(body["code"]));
  return body["reason"] === null ? null : describeReason(textOf(body["reason"]));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "unknown";
}
