import { median } from "../harness/figures.ts";
import { OVERAGE_PLANS } from "./catalog.ts";
import { findDecision } from "./check/answers.ts";
import { checkHistory, type HistoryReport, HOLD_KINDS } from "./check/check-history.ts";
import { checkOutages, checkRestarts, type OutageReport } from "./check/check-outages.ts";
import type { Stored } from "./check/stored.ts";
import { isOfClient, type SubjectKind } from "./check/subjects.ts";
import { reachVerdict, type Verdict, type Violation } from "./check/violation.ts";
import { type Call, hasItems, type ManageCall, type Span } from "./history.ts";
import type { Outage, Restart } from "./inject.ts";

/** The data that a run collects. */
export type Evidence = {
  readonly calls: readonly Call[];
  readonly manageCalls: readonly ManageCall[];
  /** When the upgrade was finished, in a run with an upgrade. */
  readonly finished?: Span;
  readonly stored: Stored | null;
  /** The output of `purser verify`, if it found a wallet that differs from its ledger. */
  readonly mismatch: string | null;
  readonly restarts: readonly Restart[];
  readonly outages: readonly Outage[];
  readonly retried: number;
  /** The last output of a service that ended without being killed. */
  readonly death: string | null;
  /** Steps and checks that could not be completed. */
  readonly doubts: readonly string[];
};

export type FaultsReport = Evidence & {
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
  readonly counts: HistoryReport["counts"];
  readonly outageTimes: OutageReport;
  readonly restartMs: readonly number[];
};

export const EXIT_CODE = { pass: 0, fail: 1, unknown: 2 } as const satisfies Record<Verdict, number>;

/** Violations to print for each invariant. A single bug can cause thousands. */
const SHOWN_MAX = 5;

export function judgeRun(evidence: Evidence): FaultsReport {
  const { calls, death, mismatch } = evidence;
  const history = checkHistory(evidence, evidence.stored);
  const outageTimes = checkOutages(calls, evidence.outages);
  const { violations: slowRestarts, restartMs } = checkRestarts(calls, evidence.restarts);
  const violations: Violation[] = [
    // A crash comes first, because it explains most of the other violations.
    ...(death === null ? [] : [{ invariant: "I8", text: `a service ended by itself: ${death}` } as const]),
    ...(mismatch === null ? [] : [{ invariant: "I4", text: `purser verify: ${mismatch}` } as const]),
    ...history.violations,
    ...outageTimes.violations,
    ...slowRestarts,
  ];
  const doubts = [...evidence.doubts, ...history.doubts, ...listScarce(evidence)];
  const verdict = reachVerdict(violations, doubts);
  return { ...evidence, verdict, violations, doubts, counts: history.counts, outageTimes, restartMs };
}

/** A run with overage and reversals must have at least this many of each. */
const COUNT_MIN = 15;

function listScarce(evidence: Evidence): string[] {
  const { calls, stored } = evidence;
  if (stored === null) return [];
  const overage = countOverage(evidence);
  const hasOverage = stored.plans.some(({ key }) => Object.hasOwn(OVERAGE_PLANS, key));
  const hasReversals = calls.some(({ request }) => request.endpoint === "reverse");
  const counts = {
    ...(hasOverage && {
      "charges with overage": overage.overage_charges,
      "charges of holds with overage": overage.overage_settled,
    }),
    ...(hasReversals && { "reversals by API key": stored.ledger.filter(isOfClient).length }),
    ...(hasOverage && hasReversals && { "reversals of overage by API key": overage.overage_reversals }),
  };
  return Object.entries(counts)
    .filter(([, count]) => count < COUNT_MIN)
    .map(([name, count]) => `there are only ${count} ${name}, so too little about them is proven`);
}

/** Counts charges and reversals by ledger entry. A request with items has several entries. */
function countOverage({ calls, stored }: Evidence) {
  const beyond = (stored?.ledger ?? []).filter(({ overage }) => overage > 0);
  const charges = beyond.filter(({ kind }) => kind === "consume");
  const held = calls.flatMap((call) => {
    const items = call.request.endpoint === "holds" ? (findDecision(call)?.items ?? []) : [];
    return items.some(({ overageCredits }) => (overageCredits ?? 0) > 0) ? [call.request.marker] : [];
  });
  return {
    overage_charges: charges.length,
    overage_credits: charges.reduce((sum, { overage }) => sum + overage, 0),
    overage_holds: new Set(held).size,
    overage_settled: charges.filter(({ hold }) => hold !== null).length,
    overage_reversals: beyond.filter(isOfClient).length,
  };
}

export function describeReport(report: FaultsReport): string {
  const { restarts, outages, outageTimes, counts, calls } = report;
  const lines = [
    "",
    `services killed     ${restarts.length} times; first 200 after a start: ${spread(report.restartMs)}`,
    `PostgreSQL killed   ${outages.length} times; first 200 after it accepts connections: ${spread(outageTimes.recoveryMs)}`,
    `during outages      slowest reply ${ms(outageTimes.replyMsMax)}; last rejection ${ms(outageTimes.lastRefusalMsMax)} after it accepts connections`,
    `calls               ${calls.length}: ${countByOutcome(report).join(", ")}`,
    `retried             ${report.retried} requests without a definite outcome`,
    `managed             ${countManaged(report).join(", ")}`,
    `events              ${describeCounts(counts.event)}`,
    `charges             ${describeCounts(counts.charge)}`,
    `denials             ${describeCounts(counts.denial)}`,
    `                    ${countNames((report.stored?.denials ?? []).map(({ reason }) => reason)).join(", ")}`,
    `holds               ${describeCounts(counts.hold)}`,
    `                    ${HOLD_KINDS.map((kind) => `${countHolds(report, kind)} ${kind}`).join(", ")}`,
    `with items          ${countWithItems(report, true)} requests allowed, ${countWithItems(report, false)} denied`,
    `overage             ${describeOverage(report)}`,
    `reversals           ${describeCounts(counts.reversal)}`,
    `                    ${countRejected(report)} rejected, because nothing or too little was left`,
    `ledger              ${countNames((report.stored?.ledger ?? []).map(({ kind }) => kind)).join(", ")}`,
    "",
    ...listViolations(report),
    ...report.doubts.map((doubt) => `DOUBT ${doubt}`),
    `verdict: ${report.verdict}${report.verdict === "pass" ? describeBound(report) : ""}`,
  ];
  return lines.join("\n");
}

/** The figures of `--json`. */
export function summarize(report: FaultsReport): object {
  const { outageTimes, counts } = report;
  const { event, charge, denial, reversal } = counts;
  return {
    verdict: report.verdict,
    service_kills: report.restarts.length,
    postgres_kills: report.outages.length,
    calls: report.calls.length,
    acknowledged: event.acknowledged,
    unknown: event.unknown,
    stored: event.stored,
    consumes_acknowledged: charge.acknowledged,
    consumes_unknown: charge.unknown,
    consumes_stored: charge.stored,
    denials_acknowledged: denial.acknowledged,
    denials_stored: denial.stored,
    items_allowed: countWithItems(report, true),
    items_denied: countWithItems(report, false),
    ...Object.fromEntries(HOLD_KINDS.map((kind) => [`holds_${kind}`, countHolds(report, kind)])),
    ...countOverage(report),
    reversals_acknowledged: reversal.acknowledged,
    reversals_unknown: reversal.unknown,
    reversals_stored: reversal.stored,
    reversals_rejected: countRejected(report),
    checks: report.calls.filter(({ request }) => request.endpoint === "check").length,
    managed: report.manageCalls.length,
    retried: report.retried,
    max_reply_ms_while_down: Math.round(outageTimes.replyMsMax),
    recovery_ms_max: roundedMax(outageTimes.recoveryMs),
    last_refusal_ms_max: Math.round(outageTimes.lastRefusalMsMax),
    restart_ms_max: roundedMax(report.restartMs),
    violations: report.violations.length,
    doubts: report.doubts,
  };
}

function describeOverage(report: FaultsReport): string {
  const overage = countOverage(report);
  const settled = `${overage.overage_settled} of them of holds`;
  const others = `${overage.overage_holds} holds, ${overage.overage_reversals} reversals by API key`;
  return `${overage.overage_credits} credits in ${overage.overage_charges} charges (${settled}), ${others}`;
}

function countRejected({ calls }: FaultsReport): number {
  return calls.filter(({ outcome }) => outcome.kind === "fail" && outcome.code === "nothing_to_reverse")
    .length;
}

/** Rule of three: with no failure in n trials, the failure rate is below 3/n with 95% confidence. Useful from n = 4. */
function describeBound({ restarts, outages }: FaultsReport): string {
  const rate = (trials: number): string => `${((3 / trials) * 100).toFixed(1)} %`;
  const bounds = [
    ...(restarts.length > 3 ? [`${rate(restarts.length)} of service kills`] : []),
    ...(outages.length > 3 ? [`${rate(outages.length)} of PostgreSQL kills`] : []),
  ];
  return bounds.length === 0
    ? ""
    : ` (with 95% confidence, fewer than ${bounds.join(" and ")} cause a violation)`;
}

function listViolations({ violations }: FaultsReport): string[] {
  const byInvariant = Map.groupBy(violations, ({ invariant }) => invariant);
  return [...byInvariant].flatMap(([invariant, all]) => [
    ...all.slice(0, SHOWN_MAX).map(({ text }) => `VIOLATION ${invariant.padEnd(8)}${text}`),
    ...(all.length > SHOWN_MAX ? [`VIOLATION ${invariant.padEnd(8)}and ${all.length - SHOWN_MAX} more`] : []),
  ]);
}

function describeCounts({ acknowledged, unknown, stored }: HistoryReport["counts"][SubjectKind]): string {
  return `${acknowledged} acknowledged ≤ ${stored ?? "not read"} stored ≤ ${acknowledged + unknown} including ${unknown} unknown`;
}

function countHolds({ stored }: FaultsReport, kind: string): number {
  return (stored?.holdChanges ?? []).filter((row) => row.kind === kind).length;
}

/** Counts consume requests, not calls. */
function countWithItems({ calls }: FaultsReport, allowed: boolean): number {
  const markers = calls.flatMap((call) =>
    call.request.endpoint === "consume" && hasItems(call.request) && findDecision(call)?.allowed === allowed
      ? [call.request.marker]
      : [],
  );
  return new Set(markers).size;
}

function countByOutcome({ calls }: FaultsReport): string[] {
  return countNames(
    calls.map(({ outcome }) =>
      outcome.kind === "ok" ? "200" : outcome.kind === "fail" ? String(outcome.status) : outcome.reason,
    ),
  );
}

function countManaged({ manageCalls }: FaultsReport): string[] {
  return countNames(
    manageCalls.map(({ request, outcome }) => {
      const isDone = outcome.kind === "done" || outcome.kind === "reversed";
      return `${request.operation}${isDone ? "" : ` ${outcome.kind}`}`;
    }),
  );
}

function countNames(names: readonly string[]): string[] {
  return [...Map.groupBy(names, (name) => name)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, all]) => `${all.length} ${name}`);
}

function spread(values: readonly number[]): string {
  return values.length === 0 ? "none" : `median ${ms(median(values))}, max ${ms(maxOf(values))}`;
}

/** Null for an empty list, because 0 would look like the best result. */
function roundedMax(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.round(maxOf(values));
}

function maxOf(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
