import type { HistoryReport } from "./check/check-history.ts";
import type { SubjectKind } from "./check/subjects.ts";
import type { Verdict } from "./check/violation.ts";
import type { FaultsReport } from "./judge-run.ts";

/** Of each invariant: one fault often shows in thousands of calls. */
const SHOWN_MAX = 5;

/** For a person: what was done, what was seen, and what is wrong. */
export function describeReport(report: FaultsReport): string {
  const { history, outages, calls } = report;
  const lines = [
    "",
    `services killed     ${report.serviceKills} times; first 200 after a start: ${spread(report.restartMs)}`,
    `PostgreSQL killed   ${report.postgresKills} times; first 200 after it accepts: ${spread(outages.recoveryMs)}`,
    `while it was down   slowest reply ${ms(outages.replyMsMax)}; last refusal ${ms(outages.lastRefusalMsMax)} after it accepts`,
    `calls               ${calls.length}: ${countByOutcome(report).join(", ")}`,
    `retried             ${report.retried} keyed requests without a definite outcome`,
    `managed             ${countManaged(report).join(", ")}`,
    `events              ${bounded(history.counts.event)}`,
    `charges             ${bounded(history.counts.charge)}`,
    `denials             ${bounded(history.counts.denial)}`,
    `                    ${countNames((report.stored?.denials ?? []).map(({ reason }) => reason)).join(", ")}`,
    `ledger              ${countNames((report.stored?.ledger ?? []).map(({ kind }) => kind)).join(", ")}`,
    "",
    ...listViolations(report),
    ...report.doubts.map((doubt) => `DOUBT ${doubt}`),
    `verdict: ${report.verdict}${report.verdict === "pass" ? bound(report) : ""}`,
  ];
  return lines.join("\n");
}

/** For a machine. */
export function summarize(report: FaultsReport): object {
  const { history, outages } = report;
  const { event, charge, denial } = history.counts;
  return {
    verdict: report.verdict,
    service_kills: report.serviceKills,
    postgres_kills: report.postgresKills,
    calls: report.calls.length,
    acknowledged: event.acknowledged,
    unknown: event.unknown,
    stored: event.stored,
    consumes_acknowledged: charge.acknowledged,
    consumes_unknown: charge.unknown,
    consumes_stored: charge.stored,
    denials_acknowledged: denial.acknowledged,
    denials_stored: denial.stored,
    checks: report.calls.filter(({ request }) => request.endpoint === "check").length,
    managed: report.manageCalls.length,
    retried: report.retried,
    max_reply_ms_while_down: Math.round(outages.replyMsMax),
    recovery_ms_max: roundedMax(outages.recoveryMs),
    last_refusal_ms_max: Math.round(outages.lastRefusalMsMax),
    restart_ms_max: roundedMax(report.restartMs),
    violations: report.violations.length,
    doubts: report.doubts,
  };
}

export const EXIT_CODE = { pass: 0, fail: 1, unknown: 2 } as const satisfies Record<Verdict, number>;

/** No failure in n trials bounds the rate below 3/n at 95 %, which says something from 4 on. */
function bound({ serviceKills, postgresKills }: FaultsReport): string {
  const rate = (trials: number): string => `${((3 / trials) * 100).toFixed(1)} %`;
  const bounds = [
    ...(serviceKills > 3 ? [`${rate(serviceKills)} of the service's kills`] : []),
    ...(postgresKills > 3 ? [`${rate(postgresKills)} of PostgreSQL's`] : []),
  ];
  return bounds.length === 0 ? "" : ` (at 95 %, fewer than ${bounds.join(" and ")} do harm)`;
}

function listViolations({ violations }: FaultsReport): string[] {
  const byInvariant = Map.groupBy(violations, ({ invariant }) => invariant);
  return [...byInvariant].flatMap(([invariant, all]) => [
    ...all.slice(0, SHOWN_MAX).map(({ text }) => `VIOLATION ${invariant.padEnd(8)}${text}`),
    ...(all.length > SHOWN_MAX ? [`VIOLATION ${invariant.padEnd(8)}and ${all.length - SHOWN_MAX} more`] : []),
  ]);
}

function bounded({ acknowledged, unknown, stored }: HistoryReport["counts"][SubjectKind]): string {
  return `${acknowledged} acknowledged ≤ ${stored ?? "not read"} stored ≤ ${acknowledged + unknown} with the ${unknown} unknown`;
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
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${count} ${name}`);
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return "none";
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return `${ms(middle)} in the middle, ${ms(maxOf(values))} at most`;
}

/** Null where there is nothing to take it of: 0 would look like the best of results. */
function roundedMax(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.round(maxOf(values));
}

function maxOf(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
