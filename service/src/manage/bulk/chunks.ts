import { setTimeout as pause } from "node:timers/promises";
import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import type { Patience } from "../../store/cell/open-wallets.ts";

/** Customers of one transaction: few enough that it ends in well under a tenth of a second, as charges of them wait for it. */
export const CHUNK_SIZE = 250;

const SKIPS_MAX = 5;
const SKIP_PAUSE_MS = 50;
const ATTEMPTS_MAX = 8;
const ATTEMPT_PAUSE_MS = 400;

/**
 * Calls `work` with what is still to be done until nothing is. What it hands back, because somebody held it, comes again a
 * little later, and in the end is waited for.
 */
export async function untilDone<T>(
  things: readonly T[],
  work: (rest: readonly T[], patience: Patience) => Promise<readonly T[]>,
): Promise<void> {
  let rest = things;
  for (let skips = 0; rest.length > 0; skips++) {
    if (skips > 0) await pause(SKIP_PAUSE_MS);
    rest = await work(rest, skips < SKIPS_MAX ? "skip" : "wait");
  }
}

/**
 * Again, when somebody else was first, two waited for each other, or the database was away for a moment. Safe even where
 * nobody knows how it went: what was done is found done.
 */
export async function rerunTroubled<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isTrouble = error instanceof OutcomeUnknown || findDatabaseTrouble(error) !== null;
      if (attempt === ATTEMPTS_MAX || !isTrouble) throw error;
      // Of two that waited for each other, one comes first now.
      await pause(attempt * ATTEMPT_PAUSE_MS * Math.random());
    }
  }
}
