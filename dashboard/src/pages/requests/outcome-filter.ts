import { describeReason } from "../../words/reason-words.ts";
import { describeProblem, PROBLEMS } from "../../words/request-outcome.ts";
import type { RequestFilters } from "./request-filters.ts";

type OutcomeFilter = Pick<RequestFilters, "status" | "code" | "reason">;

const REASONS = [
  "insufficient_credits",
  "limit_reached",
  "feature_not_in_plan",
  "no_active_plan",
  "customer_blocked",
  "customer_not_found",
];

const CLASSES = new Map([
  ["2xx", "Answered (2xx)"],
  ["4xx", "Refused (4xx)"],
  ["5xx", "Failed (5xx)"],
]);

/** A status, a reason and a problem's code are one question to people: how did it go? */
export function outcomeOptions({ status, code, reason }: OutcomeFilter): { value: string; label: string }[] {
  const statuses = withAlso([...CLASSES.keys()], status);
  return [
    { value: "", label: "Any outcome" },
    ...statuses.map((value) => ({
      value: `status ${value}`,
      label: CLASSES.get(value) ?? `Status ${value}`,
    })),
    ...withAlso(REASONS, reason).map((value) => ({
      value: `reason ${value}`,
      label: `Denied: ${describeReason(value)}`,
    })),
    ...withAlso([...PROBLEMS.keys()], code).map((value) => ({
      value: `code ${value}`,
      label: `Problem: ${describeProblem(value)}`,
    })),
  ];
}

/** Of several in an address the one that says most. */
export function writeOutcome({ status, code, reason }: OutcomeFilter): string {
  if (code !== undefined) return `code ${code}`;
  if (reason !== undefined) return `reason ${reason}`;
  return status === undefined ? "" : `status ${status}`;
}

export function readOutcome(option: string): OutcomeFilter {
  const [kind, value = ""] = option.split(" ");
  if (kind === "code") return { code: value };
  if (kind === "reason") return { reason: value };
  return kind === "status" ? { status: value } : {};
}

/** What an address asks for is on the list, too, whatever it is. */
function withAlso(known: readonly string[], asked: string | undefined): string[] {
  return asked === undefined || known.includes(asked) ? [...known] : [...known, asked];
}
