import type { Pool } from "../postgres/pool.ts";
import { single } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { readControlClock } from "../store/control/clock.ts";
import { getWorkspace } from "../store/control/workspaces.ts";
import { nullable, timeOf, timeOrNull } from "./fields.ts";
import { type Call, principalOf } from "./operation.ts";

const DAY_MS = 24 * 3_600_000;

/** Returns the start of the history window, or null if all rows are shown. Older rows are kept but hidden. */
export function readHistoryStart(control: Pool, workspaceId: number): Promise<Instant | null> {
  return single(control, async (tx) => {
    const { historyDaysMax } = (await getWorkspace(tx, workspaceId)).limits;
    if (historyDaysMax === null) return null;
    return brandAs<Instant>((await readControlClock(tx)) - historyDaysMax * DAY_MS);
  });
}

export function historyStartOf(control: Pool, call: Call): Promise<Instant | null> {
  return readHistoryStart(control, principalOf(call).workspaceId);
}

/** Returns `at`, or the start of the history window if that is later. */
export function notBefore(start: Instant | null, at: Instant): Instant {
  return start === null || at > start ? at : start;
}

/** Field of every response that hides rows older than the history window. */
export const windowAnswer = {
  windowStart: nullable(
    timeOf(
      "Start of the workspace's history window. Older data is kept but not shown. Null if everything is shown.",
      "2026-08-17T08:30:00.000Z",
    ),
  ),
};

export function describeWindow(start: Instant | null) {
  return { windowStart: timeOrNull(start) };
}
