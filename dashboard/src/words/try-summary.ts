import { countOf, formatCount } from "./numbers.ts";
import { describeReason } from "./reason-words.ts";
import { describeProblem } from "./request-outcome.ts";

export type Tried = {
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
