import { describeOpening, describeResult } from "./holds.ts";
import { countOf, formatCount } from "./numbers.ts";
import { formatCharge, overageIn } from "./overage.ts";

/** Endpoints in the request log. */
export const ENDPOINTS = [
  "check",
  "consume",
  "consume/reverse",
  "events",
  "events/batch",
  "holds",
  "holds/extend",
  "holds/settle",
  "holds/release",
] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

/** "/v1/consume", "/v1/holds/{holdId}/settle". */
export function pathOf(endpoint: Endpoint): string {
  return `/v1/${endpoint.replace("holds/", "holds/{holdId}/").replace("consume/", "consume/{consumeId}/")}`;
}

type Asked = {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly code: string | null;
  readonly reason: string | null;
  /** Set for a batch of events. */
  readonly counts?: Counts | null;
};

type Counts = { readonly accepted: number; readonly replayed: number; readonly rejected: number };

/** `denied` is a decision, `rejected` a client error, `failed` a server error. */
type Outcome = {
  readonly kind: "ok" | "denied" | "rejected" | "failed";
  readonly name: string;
  /** Why the request did not succeed. For a batch of events, the counts. Otherwise null. */
  readonly why: string | null;
};

/** Outcome of a request for display. */
export function outcomeOf({ endpoint, status, code, reason, counts = null }: Asked): Outcome {
  if (reason !== null) return { kind: "denied", name: "Denied", why: describeReason(reason) };
  if (status >= 500)
    return { kind: "failed", name: "Failed", why: describeProblem(code ?? "internal_error") };
  if (status >= 400)
    return { kind: "rejected", name: "Rejected", why: describeProblem(code ?? "invalid_request") };
  return {
    kind: "ok",
    name: WENT_WELL[endpoint],
    why: counts === null ? null : describeCounts(counts),
  };
}

/** "Denied: no credits left", for a CSV file. */
export function describeOutcome(asked: Asked): string {
  const { name, why } = outcomeOf(asked);
  return why === null ? name : `${name}: ${why}`;
}

/** "98 events, 1 replay, 2 rejected". */
function describeCounts({ accepted, replayed, rejected }: Counts): string {
  return [
    countOf(accepted, "event"),
    ...(replayed === 0 ? [] : [countOf(replayed, "replay")]),
    ...(rejected === 0 ? [] : [`${formatCount(rejected)} rejected`]),
  ].join(", ");
}

const WENT_WELL = {
  check: "Available",
  consume: "Allowed",
  "consume/reverse": "Reversed",
  events: "Recorded",
  "events/batch": "Recorded",
  holds: "Held",
  "holds/extend": "Extended",
  "holds/settle": "Settled",
  "holds/release": "Released",
} as const satisfies Record<Endpoint, string>;

/** Short text for an error code: "Unknown feature". */
export function describeProblem(code: string): string {
  return PROBLEMS.get(code) ?? code;
}

export const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["idempotency_key_reused", "Key already used for another request"],
  ["feature_not_found", "Unknown feature"],
  ["charge_not_found", "Unknown charge"],
  ["charge_too_old", "Charge older than 35 days"],
  ["nothing_to_reverse", "Quantity can no longer be reversed"],
  ["hold_not_found", "Unknown hold"],
  ["hold_settled", "Hold already settled"],
  ["hold_released", "Hold already released"],
  ["hold_expired", "Hold expired"],
  ["hold_items_mismatch", "Features differ from the hold"],
  ["hold_too_long", "Hold would last too long"],
  ["too_many_holds", "Too many open holds"],
  ["invalid_request", "Invalid request"],
  ["invalid_json", "Invalid JSON"],
  ["timestamp_out_of_range", "Timestamp too old or too far in the future"],
  ["metadata_limit_exceeded", "Too much metadata"],
  ["scope_missing", "The API key lacks the required scope"],
  ["browser_not_allowed", "Sent from a browser"],
  ["tls_required", "Sent without HTTPS"],
  ["body_too_large", "Body too large"],
  ["unsupported_media_type", "Not sent as JSON"],
  ["rate_limited", "Too many requests"],
  ["overloaded", "Overloaded, not executed"],
  ["unavailable", "Unavailable, not executed"],
  ["outcome_unknown", "Outcome unknown, safe to retry with the same key"],
  ["internal_error", "Internal error"],
]);

/** Short text for a denial reason: "Not enough credits". */
export function describeReason(reason: string): string {
  return REASONS.get(reason) ?? asWords(reason);
}

const REASONS = new Map([
  ["customer_blocked", "The customer is blocked"],
  ["customer_not_found", "Unknown customer"],
  ["no_active_plan", "No active plan"],
  ["feature_not_in_plan", "Feature not in plan"],
  ["limit_reached", "Limit reached"],
  ["insufficient_credits", "Not enough credits"],
]);

/** For reasons added by a newer API version: "seat_missing" becomes "Seat missing". */
function asWords(reason: string): string {
  const words = reason.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

type Opened = Parameters<typeof describeOpening>[0];

type Story = {
  readonly endpoint?: string | null;
  readonly customerId: string | null;
  readonly customerName?: string | null;
  readonly charge: { readonly feature: string; readonly quantity: number } | null;
  /** All charges of the request. */
  readonly charges: readonly Charged[];
  readonly denial: {
    readonly feature: string;
    readonly quantity: number;
    readonly reason: string | null;
  } | null;
  readonly hold: (Opened & Parameters<typeof describeResult>[0]) | null;
  /** The stored response. */
  readonly answer?: Readonly<Record<string, unknown>> | null;
  readonly event: { readonly event: string; readonly quantity: number } | null;
};

/** Names of features and event keys, by their keys. */
type Names = { readonly feature: (key: string) => string; readonly event: (key: string) => string };

/** The effect of an idempotency key, in one sentence. */
export function describeKey(story: Story, names: Names): string {
  const { endpoint, customerId, customerName, charge, charges, denial, hold, answer, event } = story;
  const who = customerName ?? customerId ?? "an erased customer";
  const reversed = endpoint === "consume/reverse" ? reversedBy(answer) : null;
  if (reversed !== null) {
    const { feature, quantity, creditsReturned } = reversed;
    const overage = overageIn(answer);
    const asked = `${formatCount(quantity)} × ${names.feature(feature)}`;
    const returned = `returned ${countOf(creditsReturned, "credit")} to ${who}`;
    return overage === 0
      ? `Reversed ${asked} and ${returned}.`
      : `Reversed ${asked}, ${returned} and reversed ${formatCharge({ credits: 0, overage })}.`;
  }
  if (charge !== null) {
    const asked =
      charges.length > 1
        ? `${charges.length} items`
        : `${formatCount(charge.quantity)} × ${names.feature(charge.feature)}`;
    return `Charged ${who} ${formatCharge(chargedIn(charges))} for ${asked}.`;
  }
  if (denial !== null)
    return `Denied ${formatCount(denial.quantity)} × ${names.feature(denial.feature)} for ${who}: ${describeReason(denial.reason ?? "").toLowerCase()}.`;
  if (hold !== null) {
    const opened = openedOf(hold, answer);
    const items = opened.items.map((item) => ({ ...item, feature: names.feature(item.feature) }));
    return `${describeOpening({ ...opened, items }, who)} ${describeResult(hold)}`;
  }
  if (event !== null)
    return `Recorded ${formatCount(event.quantity)} × ${names.event(event.event)} for ${who}.`;
  return "This key was used before the start of your history window.";
}

type Charged = { readonly credits: number; readonly overageCredits: number };

/** The total of all charges of a request. */
export function chargedIn(charges: readonly Charged[]): { credits: number; overage: number } {
  let [credits, overage] = [0, 0];
  for (const charge of charges) {
    credits += charge.credits;
    overage += charge.overageCredits;
  }
  return { credits, overage };
}

type ReversedPart = { readonly feature: string; readonly quantity: number; readonly creditsReturned: number };

/** The feature, quantity and credits that a key reversed, from its stored response. A key can reverse only one charge. */
export function reversedBy(answer: Story["answer"]): ReversedPart | null {
  const items = answer?.["items"];
  return Array.isArray(items) ? (items[0] ?? null) : null;
}

/** The hold as it was opened. Only a hold on one feature can be extended. Its stored response keeps the original numbers. */
function openedOf(hold: Opened, answer: Story["answer"]): Opened {
  const { quantity, creditsHeld } = answer ?? {};
  const [item] = hold.items;
  if (item === undefined || typeof quantity !== "number" || typeof creditsHeld !== "number") return hold;
  return { creditsHeld, items: [{ ...item, quantity, overageCredits: overageIn(answer) }] };
}

type Use = { readonly isReplay: boolean; readonly refused: object | null; readonly code: string | null };

/** "1 original request, 31 replays, 1 rejected (different request)". */
export function countUses(uses: readonly Use[]): string {
  const refused = uses.filter(({ code }) => code === "idempotency_key_reused").length;
  const replays = uses.filter(({ isReplay }) => isReplay).length;
  const failed = uses.filter(({ code }) => code !== null && code !== "idempotency_key_reused").length;
  const originals = uses.length - refused - replays - failed;
  return [
    ...(originals === 0 ? [] : [countOf(originals, "original request")]),
    ...(replays === 0 ? [] : [countOf(replays, "replay")]),
    ...(refused === 0 ? [] : [`${formatCount(refused)} rejected (different request)`]),
    ...(failed === 0 ? [] : [countOf(failed, "error")]),
  ].join(", ");
}

type TestAnswer = {
  readonly count: number;
  readonly status: number;
  readonly isReplay: boolean;
  readonly body: Readonly<Record<string, unknown>>;
};

/** "1 charge, 31 replays". */
export function summarizeAnswers(endpoint: "check" | "consume", answers: readonly TestAnswer[]): string {
  return answers.map((answer) => describeAnswers(endpoint, answer)).join(", ");
}

/** Overage charged by all requests. A replay charges nothing. */
export function overageCharged(answers: readonly TestAnswer[]): number {
  return answers.reduce(
    (sum, { count, isReplay, body }) => sum + (isReplay ? 0 : count * overageIn(body)),
    0,
  );
}

/** One group of equal responses: "31 replays". */
export function describeAnswers(
  endpoint: "check" | "consume",
  { count, status, isReplay, body }: TestAnswer,
): string {
  if (status >= 400) return `${formatCount(count)} rejected`;
  if (isReplay) return countOf(count, "replay");
  if (endpoint === "check")
    return `${formatCount(count)} × ${body["allowed"] === true ? "available" : "not available"}`;
  return body["allowed"] === true ? countOf(count, "charge") : countOf(count, "denial");
}

/** Error or denial reason of a response; null if it succeeded. */
export function explainAnswer({ status, body }: TestAnswer): string | null {
  if (status >= 400) return describeProblem(textOf(body["code"]));
  return body["reason"] === null ? null : describeReason(textOf(body["reason"]));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "unknown";
}
