import { checkHistory, type HistoryReport } from "./check/check-history.ts";
import { checkOutages, type OutageReport } from "./check/check-outages.ts";
import { checkRestarts } from "./check/check-restarts.ts";
import type { Stored } from "./check/stored.ts";
import { reachVerdict, type Verdict, type Violation } from "./check/violation.ts";
import type { Call } from "./history/call.ts";
import type { ManageCall } from "./history/manage-call.ts";
import type { Outage } from "./inject/kill-postgres.ts";
import type { Restart } from "./inject/kill-service.ts";

/** All that a run has left behind. */
export type Evidence = {
  readonly calls: readonly Call[];
  readonly manageCalls: readonly ManageCall[];
  readonly stored: Stored | null;
  /** What `purser verify` reported, if it found a wallet that is not the fold of its ledger. */
  readonly mismatch: string | null;
  readonly restarts: readonly Restart[];
  readonly outages: readonly Outage[];
  readonly retried: number;
  /** How a service ended, if it did without being killed. */
  readonly death: string | null;
  /** What could not be done or looked at. */
  readonly doubts: readonly string[];
};

export type FaultsReport = {
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
  readonly doubts: readonly string[];
  readonly calls: readonly Call[];
  readonly manageCalls: readonly ManageCall[];
  readonly stored: Stored | null;
  readonly serviceKills: number;
  readonly postgresKills: number;
  readonly retried: number;
  readonly history: HistoryReport;
  readonly outages: OutageReport;
  readonly restartMs: readonly number[];
};

export function judgeRun(evidence: Evidence): FaultsReport {
  const { calls, manageCalls, restarts, death, mismatch } = evidence;
  const history = checkHistory({ calls, manageCalls }, evidence.stored);
  const outages = checkOutages(calls, evidence.outages);
  const { violations: slowRestarts, restartMs } = checkRestarts(calls, restarts);
  // A death explains most of what follows from it, so it comes first.
  const deaths: Violation[] =
    death === null ? [] : [{ invariant: "I8", text: `a service ended by itself: ${death}` }];
  const mismatches: Violation[] =
    mismatch === null ? [] : [{ invariant: "I4", text: `purser verify: ${mismatch}` }];
  const violations = [
    ...deaths,
    ...mismatches,
    ...history.violations,
    ...outages.violations,
    ...slowRestarts,
  ];
  const doubts = [...evidence.doubts, ...history.doubts];
  return {
    verdict: reachVerdict(violations, doubts),
    violations,
    doubts,
    calls,
    manageCalls,
    stored: evidence.stored,
    serviceKills: restarts.length,
    postgresKills: evidence.outages.length,
    retried: evidence.retried,
    history,
    outages,
    restartMs,
  };
}
