import type { Denial, Say } from "./denial-sentences.ts";
import { countOf, formatCount } from "./numbers.ts";
import { describeReason } from "./reason-words.ts";

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
