import { setTimeout as pause } from "node:timers/promises";
import { OutcomeUnknown } from "../../postgres/commit.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import type { LockMode } from "../../store/cell/open-wallets.ts";

/** Customers per transaction. A transaction must take well under 100 ms, because charges for these customers wait until it ends. */
export const CHUNK_SIZE = 250;

const SKIPS_MAX = 5;
const SKIP_PAUSE_MS = 50;
const ATTEMPTS_MAX = 8;
const ATTEMPT_PAUSE_MS = 400;

/**
 * Calls `work` with the remaining items until none are left. `work` returns the items whose wallet was locked by another
 * transaction. `untilDone` retries these items after a pause. After several attempts, `work` waits for the locks instead.
 */
export async function untilDone<T>(
  things: readonly T[],
  work: (rest: readonly T[], lockMode: LockMode) => Promise<readonly T[]>,
): Promise<void> {
  let rest = things;
  for (let skips = 0; rest.length > 0; skips++) {
    if (skips > 0) await pause(SKIP_PAUSE_MS);
    rest = await work(rest, skips < SKIPS_MAX ? "skip" : "wait");
  }
}

/**
 * Retries after conflicts, deadlocks and lost connections. Safe even after an unknown outcome, because the work is idempotent. Calls
 * `onUnknown` after each unknown outcome, because the next attempt may find the changes already made.
 */
export async function withRetries<T>(work: () => Promise<T>, onUnknown?: () => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof OutcomeUnknown) onUnknown?.();
      const isTrouble = error instanceof OutcomeUnknown || findDatabaseTrouble(error) !== null;
      if (attempt === ATTEMPTS_MAX || !isTrouble) throw error;
      // The pause is random, so that two deadlocked transactions do not collide again.
      await pause(attempt * ATTEMPT_PAUSE_MS * Math.random());
    }
  }
}
