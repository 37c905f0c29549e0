import type { Call } from "../history/call.ts";
import { checkAcknowledged } from "./check-acknowledged.ts";
import { checkCounts, countBounds } from "./check-counts.ts";
import { checkKeys } from "./check-keys.ts";
import { checkReplies } from "./check-replies.ts";
import { checkStoredKeys } from "./check-stored-keys.ts";
import type { Stored } from "./stored.ts";
import { reachVerdict, type Verdict, type Violation } from "./violation.ts";

export type HistoryReport = {
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
  readonly doubts: readonly string[];
  /** Requests, not calls: copies under one key count once. */
  readonly acknowledged: number;
  readonly unknown: number;
  readonly stored: number | null;
};

/**
 * Judges what the clients saw against what the database holds. Pure: the same history and rows give the same report.
 * `stored` is null when the rows could not be read whole.
 */
export function checkHistory(calls: readonly Call[], stored: Stored | null): HistoryReport {
  const doubts: string[] = [];
  const { acknowledged, unknown } = countBounds(calls);
  if (acknowledged === 0) doubts.push("nothing was acknowledged, so nothing is proven");
  const violations = [...checkKeys(calls), ...checkReplies(calls)];
  if (stored === null) doubts.push("the database could not be read whole");
  else {
    violations.push(
      ...checkCounts(calls, stored.events),
      ...checkAcknowledged(calls, stored.events),
      ...checkStoredKeys(calls, stored),
    );
  }
  return {
    verdict: reachVerdict(violations, doubts),
    violations,
    doubts,
    acknowledged,
    unknown,
    stored: stored?.events.length ?? null,
  };
}
