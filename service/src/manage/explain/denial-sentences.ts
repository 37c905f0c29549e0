import { assertNever } from "../../words/assert.ts";
import type { DenialExplanation } from "./denial-explanation.ts";

type Facts = Omit<DenialExplanation, "sentences">;

/** Why it was denied, when that changes by itself, and whether it still would be: in words. */
export function denialSentences(facts: Facts): string[] {
  return [...whyDenied(facts), ...whatNow(facts)];
}

function whyDenied(facts: Facts): string[] {
  const { reason, feature, plan, pool } = facts;
  const planName = plan === null ? "The plan" : `Plan ${plan.name}, version ${plan.version},`;
  switch (reason) {
    case "insufficient_credits": {
      const where = pool === "credits" ? "" : ` in the pool ${pool}`;
      const needed = `Needed ${credits(facts.creditsRequired)} for ${facts.quantity} of ${feature}, ${left(facts.balance)}${where}.`;
      return [needed, resetSentence(facts.resetsAt)];
    }
    case "limit_reached": {
      const { limit } = facts;
      const allows = `${planName} allows ${limit?.quantity ?? 0} of ${feature} in a period.`;
      const used = `${were(limit?.used ?? 0)} used, and ${facts.quantity} more would have gone beyond it.`;
      const resetsAt = limit?.resetsAt ?? null;
      const reset =
        resetsAt === null ? "That limit does not reset." : `The limit resets on ${readable(resetsAt)}.`;
      return [allows, used, reset];
    }
    case "feature_not_in_plan":
      return [`${planName} does not include ${feature}.`];
    case "customer_blocked":
      return ["The customer was blocked, and a blocked customer is denied everything."];
    case "no_active_plan":
      return ["The customer had no plan, and without one credits cannot be used."];
    case "customer_not_found":
      return ["Nobody knew this customer, and there was no default plan."];
    default:
      return assertNever(reason);
  }
}

function whatNow({ now, creditsRequired }: Facts): string[] {
  if (now === null) return [];
  if (now.allowed) return ["The same request would be allowed now."];
  if (now.reason !== "insufficient_credits")
    return [`The same request would still be denied now (${now.reason}).`];
  const price =
    now.creditsRequired === creditsRequired ? "" : ` it would need ${credits(now.creditsRequired)}, and`;
  return [`The same request would still be denied now:${price} ${isLeft(now.balance)}.`];
}

function resetSentence(resetsAt: string | null): string {
  return resetsAt === null
    ? "The plan gives no further credits by itself."
    : `Plan credits reset on ${readable(resetsAt)}.`;
}

function credits(count: number): string {
  return count === 1 ? "1 credit" : `${count} credits`;
}

function left(count: number): string {
  return count === 1 ? "1 was left" : `${count} were left`;
}

function isLeft(count: number): string {
  return count === 1 ? "1 credit is left" : `${count} credits are left`;
}

function were(count: number): string {
  return count === 1 ? "1 was" : `${count} were`;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `2026-12-01T00:00:00.000Z` → `1 December 2026 00:00 UTC`. */
function readable(time: string): string {
  const [, year, month, day, clock] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(time) ?? [];
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year} ${clock} UTC`;
}
