import type { Call } from "../history/call.ts";
import type { Restart } from "../inject/kill-service.ts";
import { findBackAt } from "./check-outages.ts";
import type { Violation } from "./violation.ts";

/** I8: from the start of a process, which has to load its code first, to its first 200. */
export const RESTART_MS_MAX = 10_000;

export function checkRestarts(
  calls: readonly Call[],
  restarts: readonly Restart[],
): { violations: readonly Violation[]; restartMs: readonly number[] } {
  const violations: Violation[] = [];
  const restartMs: number[] = [];
  for (const [index, { startedAtMs }] of restarts.entries()) {
    const backAtMs = findBackAt(
      calls,
      startedAtMs,
      restarts[index + 1]?.killedAtMs ?? Number.POSITIVE_INFINITY,
    );
    const tookMs = backAtMs === null ? Number.POSITIVE_INFINITY : backAtMs - startedAtMs;
    if (tookMs > RESTART_MS_MAX)
      violations.push({
        invariant: "I8",
        text: `the service's kill ${index + 1}: no 200 within ${RESTART_MS_MAX} ms of the new start`,
      });
    if (backAtMs !== null) restartMs.push(tookMs);
  }
  return { violations, restartMs };
}
