import type { Verdict } from "./check/violation.ts";
import type { FaultsReport } from "./judge-run.ts";

/** Of each invariant: one fault often shows in thousands of calls. */
const SHOWN_MAX = 5;

/** For a person: what was done, what was seen, and what is wrong. */
export function describeReport(report: FaultsReport): string {
  const { history, outages, calls } = report;
  const stored = history.stored ?? "not read";
  const lines = [
    "",
    `service killed      ${report.serviceKills} times; first 200 after a start: ${spread(report.restartMs)}`,
    `PostgreSQL killed   ${report.postgresKills} times; first 200 after it accepts: ${spread(outages.recoveryMs)}`,
    `while it was down   slowest reply ${ms(outages.replyMsMax)}; last refusal ${ms(outages.lastRefusalMsMax)} after it accepts`,
    `calls               ${calls.length}: ${countByOutcome(report).join(", ")}`,
    `retried             ${report.retried} keyed requests without a definite outcome`,
    `requests            ${history.acknowledged} acknowledged ≤ ${stored} stored ≤ ${history.acknowledged + history.unknown} with the ${history.unknown} unknown`,
    "",
    ...listViolations(report),
    ...report.doubts.map((doubt) => `DOUBT ${doubt}`),
    `verdict: ${report.verdict}${report.verdict === "pass" ? bound(report) : ""}`,
  ];
  return lines.join("\n");
}

/** For a machine, on one line. */
export function toJson(report: FaultsReport): string {
  const { history, outages } = report;
  return JSON.stringify({
    verdict: report.verdict,
    service_kills: report.serviceKills,
    postgres_kills: report.postgresKills,
    calls: report.calls.length,
    acknowledged: history.acknowledged,
    unknown: history.unknown,
    stored: history.stored,
    retried: report.retried,
    max_reply_ms_while_down: Math.round(outages.replyMsMax),
    recovery_ms_max: roundedMax(outages.recoveryMs),
    last_refusal_ms_max: Math.round(outages.lastRefusalMsMax),
    restart_ms_max: roundedMax(report.restartMs),
    violations: report.violations.length,
    doubts: report.doubts,
  });
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

function countByOutcome({ calls }: FaultsReport): string[] {
  const counts = new Map<string, number>();
  for (const { outcome } of calls) {
    const name =
      outcome.kind === "ok" ? "200" : outcome.kind === "fail" ? String(outcome.status) : outcome.reason;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
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
