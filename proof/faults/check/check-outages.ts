import type { Call } from "../history.ts";
import type { Outage, Restart } from "../inject.ts";
import type { Invariant, Violation } from "./violation.ts";

/** While the database is unreachable, every call gets a response within this time. */
const REPLY_MS_MAX = 1_000;
/** I8: no call is rejected later than this after the database accepts connections. */
const RECOVERY_MS_MAX = 2_000;
/** I8: time from the start of a process, which has to load its code, to its first 200. */
const RESTART_MS_MAX = 10_000;

export type OutageReport = {
  readonly violations: readonly Violation[];
  /** The longest time to a reply, among calls that were open during an outage. */
  readonly replyMsMax: number;
  /** For each outage, the time from the first accepted connection to the first 200. */
  readonly recoveryMs: readonly number[];
  /** The time from the first accepted connection to the last call that was rejected because of the outage. */
  readonly lastRefusalMsMax: number;
};

/** Checks the replies during each outage of the database, and the time to recovery. */
export function checkOutages(calls: readonly Call[], outages: readonly Outage[]): OutageReport {
  const judged = outages.map((outage, index) =>
    judgeOutage(calls, outage, {
      name: `PostgreSQL kill ${index + 1}`,
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
  if (recoveryMs === null) complain("I8", "no call returned 200 afterward");
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
    // A call that ended after the next kill was rejected because of that kill.
    if (outcome.kind === "info" && startMs >= outage.killedAtMs && endMs < untilMs)
      lastRefusalMs = Math.max(lastRefusalMs, endMs - outage.acceptedAtMs);
  }
  if (lastRefusalMs > RECOVERY_MS_MAX)
    complain("I8", `a call was still rejected ${lastRefusalMs.toFixed(0)} ms later`);
  return { violations, replyMsMax, recoveryMs, lastRefusalMs };
}

function findProblem(call: Call, outage: Outage): string | null {
  const { client, request, startMs, endMs, outcome } = call;
  const reply = `${request.marker} of ${client} got ${JSON.stringify(outcome)} in ${(endMs - startMs).toFixed(0)} ms`;
  if (endMs - startMs >= REPLY_MS_MAX) return `${reply}, too late`;
  // The service was running, so it must respond. A reset or a timeout is not a response.
  if (outcome.kind === "info" && outcome.status === null) return `${reply}, which is not a response`;
  const isWithin = startMs >= outage.deadAtMs && endMs <= outage.restartedAtMs;
  return isWithin && outcome.kind !== "info" ? `${reply}, while there was no database` : null;
}

/** Checks the time until each killed process responded again, and that the other process always responded. */
export function checkRestarts(
  calls: readonly Call[],
  restarts: readonly Restart[],
): { violations: readonly Violation[]; restartMs: readonly number[] } {
  const violations: Violation[] = [];
  const restartMs: number[] = [];
  for (const [service, own] of Map.groupBy(calls, (call) => call.service)) {
    const kills = restarts.filter((restart) => restart.service === service);
    const silences: Silence[] = [{ fromMs: Number.NEGATIVE_INFINITY, untilMs: findBackAt(own, 0) }];
    for (const [index, { killedAtMs, startedAtMs }] of kills.entries()) {
      const backAtMs = findBackAt(own, startedAtMs, kills[index + 1]?.killedAtMs);
      silences.push({ fromMs: killedAtMs, untilMs: backAtMs });
      const tookMs = backAtMs === null ? Number.POSITIVE_INFINITY : backAtMs - startedAtMs;
      if (tookMs > RESTART_MS_MAX)
        violations.push({
          invariant: "I8",
          text: `kill ${index + 1} of service ${service}: no 200 within ${RESTART_MS_MAX} ms of the restart`,
        });
      if (backAtMs !== null) restartMs.push(tookMs);
    }
    violations.push(...own.flatMap((call) => checkAnswered(call, silences)));
  }
  return { violations, restartMs };
}

/** An interval in which a process is dead or starting. */
type Silence = { readonly fromMs: number; readonly untilMs: number | null };

/** Checks that a running process responds, even while another process is down. */
function checkAnswered(
  { service, request, startMs, endMs, outcome }: Call,
  silences: readonly Silence[],
): Violation[] {
  if (outcome.kind !== "info" || outcome.status !== null) return [];
  const isExcused = silences.some(
    ({ fromMs, untilMs }) => endMs >= fromMs && (untilMs === null || startMs <= untilMs),
  );
  if (isExcused) return [];
  const text = `${request.marker} got ${outcome.reason} instead of a response at ${endMs.toFixed(0)} ms from service ${service}, which was running`;
  return [{ invariant: "replies", text }];
}

/** The time of the first 200 to a call that started in this interval. */
function findBackAt(
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
