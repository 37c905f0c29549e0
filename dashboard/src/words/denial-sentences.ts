import { countOf, formatCount } from "./numbers.ts";
import { describeReason } from "./reason-words.ts";

type Limit = { readonly quantity: number; readonly used: number; readonly resetsAt: string | null } | null;

/** What decided it: then, or now. */
export type Position = {
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
export type Say = (at: string) => string;

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
