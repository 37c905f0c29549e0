import type { Call } from "../history/call.ts";
import type { Restart } from "../inject/kill-service.ts";
import { findBackAt } from "./check-outages.ts";
import type { Violation } from "./violation.ts";

/** I8: from the start of a process, which has to load its code first, to its first 200. */
export const RESTART_MS_MAX = 10_000;

/** How soon each killed process was back, and whether the others answered all the while. */
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
          text: `kill ${index + 1} of service ${service}: no 200 within ${RESTART_MS_MAX} ms of the new start`,
        });
      if (backAtMs !== null) restartMs.push(tookMs);
    }
    violations.push(...own.flatMap((call) => checkAnswered(call, silences)));
  }
  return { violations, restartMs };
}

/** While a process is dead or starting. */
type Silence = { readonly fromMs: number; readonly untilMs: number | null };

/** A process that lives answers, whatever happens to the other one. */
function checkAnswered(
  { service, request, startMs, endMs, outcome }: Call,
  silences: readonly Silence[],
): Violation[] {
  if (outcome.kind !== "info" || outcome.status !== null) return [];
  const isExcused = silences.some(
    ({ fromMs, untilMs }) => endMs >= fromMs && (untilMs === null || startMs <= untilMs),
  );
  if (isExcused) return [];
  const text = `${request.marker} got no answer but ${outcome.reason} at ${endMs.toFixed(0)} ms from service ${service}, which lived`;
  return [{ invariant: "replies", text }];
}
