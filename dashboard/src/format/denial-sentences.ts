import { countOf, formatCount } from "./numbers.ts";
import { describeReason } from "./request-sentences.ts";

type Limit = { readonly quantity: number; readonly used: number; readonly resetsAt: string | null } | null;

/** What decided it: then, or now. */
type Position = {
  readonly reason: string | null;
  readonly creditsRequired: number;
  readonly balance: number;
  readonly resetsAt: string | null;
  readonly limit: Limit;
};

export type Denial = Position & {
  readonly reason: string;
  readonly customerId: string | null;
  readonly feature: string;
  readonly quantity: number;
  readonly pool: string;
  readonly plan: { readonly name: string; readonly version: number } | null;
  readonly now: (Position & { readonly allowed: boolean }) | null;
};

/** How a moment is written: by the clock that was chosen. */
type Say = (at: string) => string;

/** Why it was denied, and when that changes by itself. */
export function whyDenied(denial: Denial, say: Say): string[] {
  const { reason, feature, plan } = denial;
  const ofPlan = plan === null ? "The plan" : `Plan ${plan.name} (version ${plan.version})`;
  switch (reason) {
    case "insufficient_credits":
      return [creditsSentence(denial), creditsReset(denial, say)];
    case "limit_reached":
      return [limitSentence(denial, ofPlan), limitReset(denial.limit, say)];
    case "feature_not_in_plan":
      return [`${ofPlan} does not include ${feature}. However many credits there are, it cannot be used.`];
    case "customer_blocked":
      return ["The customer was blocked. A blocked customer is denied everything, whatever they have."];
    case "no_active_plan":
      return ["The customer had no plan. Credits are kept without one, and cannot be used."];
    case "customer_not_found":
      return ["Nobody knew this customer, and there was no default plan to begin with."];
    default:
      return [`${describeReason(reason)}.`];
  }
}

function creditsSentence({ feature, quantity, creditsRequired, balance, pool }: Denial): string {
  const where = pool === "credits" ? "" : ` in the pool ${pool}`;
  const left = balance === 1 ? "1 was left" : `${formatCount(balance)} were left`;
  const missing = formatCount(creditsRequired - balance);
  const cost = quantity === 1 ? "costs" : "cost";
  return `${formatCount(quantity)} of ${feature} ${cost} ${countOf(creditsRequired, "credit")}. ${left}${where}: ${missing} too few.`;
}

function creditsReset({ resetsAt }: Position, say: Say): string {
  return resetsAt === null
    ? "The plan gives no further credits by itself."
    : `Plan credits reset on ${say(resetsAt)}.`;
}

function limitSentence({ limit, feature, quantity }: Denial, ofPlan: string): string {
  const { quantity: most = 0, used = 0 } = limit ?? {};
  const over = formatCount(used + quantity - most);
  const were = used === 1 ? "1 was used" : `${formatCount(used)} were used`;
  return `${ofPlan} allows ${formatCount(most)} of ${feature} in a period. ${were}, and ${formatCount(quantity)} more would have been ${over} too many.`;
}

function limitReset(limit: Limit, say: Say): string {
  const resetsAt = limit?.resetsAt ?? null;
  return resetsAt === null ? "That limit does not reset." : `The limit resets on ${say(resetsAt)}.`;
}

/** A sum that people can follow: the last line is what was missing, or too many. */
export type SumLine = { readonly name: string; readonly value: number; readonly isResult: boolean };

export function sumOf({ reason, creditsRequired, balance, limit }: Position, quantity: number): SumLine[] {
  const line = (name: string, value: number, isResult = false): SumLine => ({ name, value, isResult });
  if (reason === "insufficient_credits") {
    return [
      line("Needed", creditsRequired),
      line("Had", balance),
      line("Missing", creditsRequired - balance, true),
    ];
  }
  if (reason !== "limit_reached" || limit === null) return [];
  return [
    line("Allowed in a period", limit.quantity),
    line("Used before", limit.used),
    line("Asked for", quantity),
    line("Too many", limit.used + quantity - limit.quantity, true),
  ];
}

/** Whether the same request would be allowed by now, in words. */
export function whatNow({ customerId, feature, quantity, reason, creditsRequired, now }: Denial): string[] {
  if (customerId === null) return ["The customer was erased since, and cannot ask again."];
  if (now === null) return [`The feature ${feature} is not defined any more.`];
  if (now.allowed) {
    const has = `${countOf(now.creditsRequired, "credit")} of ${formatCount(now.balance)}`;
    return [
      now.creditsRequired === 0
        ? "The same request would be allowed now."
        : `The same request would be allowed now: it takes ${has}.`,
      "It needs a new idempotency key: the old one keeps its answer for ever.",
    ];
  }
  const still = now.reason === reason ? "would still be denied" : "would now be denied for another reason";
  switch (now.reason) {
    case "insufficient_credits": {
      const missing = formatCount(now.creditsRequired - now.balance);
      const needs = countOf(now.creditsRequired, "credit");
      const by = now.creditsRequired === creditsRequired ? "" : " by now";
      return [
        `The same request ${still}: it needs ${needs}${by}, ${areThere(now.balance)}, ${missing} too few.`,
      ];
    }
    case "limit_reached":
      return [
        `The same request ${still}: ${formatCount(now.limit?.used ?? 0)} of ${formatCount(now.limit?.quantity ?? 0)} are used, and it asks for ${formatCount(quantity)}.`,
      ];
    default:
      return [`The same request ${still}: ${describeReason(now.reason ?? "").toLowerCase()}.`];
  }
}

function areThere(count: number): string {
  return count === 1 ? "1 is there" : `${formatCount(count)} are there`;
}

export type NextStep =
  | { readonly kind: "add-credits"; readonly missing: number }
  | { readonly kind: "assign-plan" }
  | { readonly kind: "edit-plan" }
  | { readonly kind: "unblock" }
  | { readonly kind: "define-feature" };

/** What somebody can do about it, the likeliest first. */
export function nextStepsOf({ customerId, plan, now }: Denial): NextStep[] {
  if (customerId === null) return [];
  if (now === null) return [{ kind: "define-feature" }];
  const editPlan: NextStep[] = plan === null ? [] : [{ kind: "edit-plan" }];
  switch (now.reason) {
    case "insufficient_credits":
      return [{ kind: "add-credits", missing: now.creditsRequired - now.balance }, { kind: "assign-plan" }];
    case "limit_reached":
    case "feature_not_in_plan":
      return [{ kind: "assign-plan" }, ...editPlan];
    case "no_active_plan":
      return [{ kind: "assign-plan" }];
    case "customer_blocked":
      return [{ kind: "unblock" }];
    default:
      return [];
  }
}

/** Without doing anything: when it changes by itself. Null: it does not. */
export function waitingHelps({ now }: Denial, say: Say): string | null {
  if (now === null || now.allowed) return null;
  if (now.reason === "insufficient_credits" && now.resetsAt !== null) {
    return `Or wait: plan credits reset on ${say(now.resetsAt)}.`;
  }
  const limitResetsAt = now.limit?.resetsAt ?? null;
  return now.reason === "limit_reached" && limitResetsAt !== null
    ? `Or wait: the limit resets on ${say(limitResetsAt)}.`
    : null;
}
