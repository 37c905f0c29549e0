import type { Call } from "../history/call.ts";
import type { Outage } from "../inject/kill-postgres.ts";
import type { Invariant, Violation } from "./violation.ts";

/** With the database unreachable every call is answered in less than this. */
export const REPLY_MS_MAX = 1_000;
/** I8: this long after the database accepts connections again, no call is refused any more. */
export const RECOVERY_MS_MAX = 2_000;

export type OutageReport = {
  readonly violations: readonly Violation[];
  /** Of all calls that were open at some moment of an outage. */
  readonly replyMsMax: number;
  /** From the first accepted connection to the first 200, for each outage. */
  readonly recoveryMs: readonly number[];
  /** From the first accepted connection to the last call that was refused for it. */
  readonly lastRefusalMsMax: number;
};

/** How the service behaved while it had no database, and how soon it was back. */
export function checkOutages(calls: readonly Call[], outages: readonly Outage[]): OutageReport {
  const judged = outages.map((outage, index) =>
    judgeOutage(calls, outage, {
      name: `PostgreSQL's kill ${index + 1}`,
      untilMs: outages[index + 1]?.killedAtMs ?? Number.POSITIVE_INFINITY,
    }),
  );
  return {
    violations: judged.flatMap(({ violations }) => violations),
    replyMsMax: Math.max(0, ...judged.map(({ replyMsMax }) => replyMsMax)),
    recoveryMs: judged.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs])),
    lastRefusalMsMax: Math.max(0, ...judged.map(({ lastRefusalMs }) => lastRefusalMs)),
  };
}

function judgeOutage(
  calls: readonly Call[],
  outage: Outage,
  { name, untilMs }: { name: string; untilMs: number },
): { violations: Violation[]; replyMsMax: number; recoveryMs: number | null; lastRefusalMs: number } {
  const violations: Violation[] = [];
  const complain = (invariant: Invariant, text: string): void => {
    violations.push({ invariant, text: `${name}: ${text}` });
  };
  const backAtMs = findBackAt(calls, outage.deadAtMs, untilMs);
  const recoveryMs = backAtMs === null ? null : Math.max(0, backAtMs - outage.acceptedAtMs);
  if (recoveryMs === null) complain("I8", "no call was answered with 200 afterwards");
  else if (recoveryMs > RECOVERY_MS_MAX)
    complain("I8", `the first 200 came ${recoveryMs.toFixed(0)} ms later`);

  let replyMsMax = 0;
  let lastRefusalMs = 0;
  for (const call of calls) {
    const { startMs, endMs, outcome } = call;
    if (endMs >= outage.killedAtMs && startMs < (backAtMs ?? untilMs)) {
      replyMsMax = Math.max(replyMsMax, endMs - startMs);
      const problem = findProblem(call, outage);
      if (problem !== null) complain("replies", problem);
    }
    // One that ended after the next kill was refused for that.
    if (outcome.kind === "info" && startMs >= outage.killedAtMs && endMs < untilMs)
      lastRefusalMs = Math.max(lastRefusalMs, endMs - outage.acceptedAtMs);
  }
  if (lastRefusalMs > RECOVERY_MS_MAX)
    complain("I8", `a call was still refused ${lastRefusalMs.toFixed(0)} ms later`);
  return { violations, replyMsMax, recoveryMs, lastRefusalMs };
}

/** When the first 200 came to a call that began after the server was dead: only a new server can have stored it. */
export function findBackAt(
  calls: readonly Call[],
  sinceMs: number,
  untilMs = Number.POSITIVE_INFINITY,
): number | null {
  let backAtMs: number | null = null;
  for (const { startMs, endMs, outcome } of calls) {
    if (outcome.kind !== "ok" || startMs < sinceMs || startMs >= untilMs) continue;
    if (backAtMs === null || endMs < backAtMs) backAtMs = endMs;
  }
  return backAtMs;
}

function findProblem(call: Call, outage: Outage): string | null {
  const { client, request, startMs, endMs, outcome } = call;
  const told = `${request.marker} of ${client} got ${JSON.stringify(outcome)} in ${(endMs - startMs).toFixed(0)} ms`;
  if (endMs - startMs >= REPLY_MS_MAX) return `${told}, too late`;
  // The service stayed up, so it answers; a reset or a timeout is no answer.
  if (outcome.kind === "info" && outcome.status === null) return `${told}, which is no answer`;
  const isWholly = startMs >= outage.deadAtMs && endMs <= outage.restartedAtMs;
  return isWholly && outcome.kind !== "info" ? `${told}, while there was no database` : null;
}
