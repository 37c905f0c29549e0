import type { Pool } from "../postgres/pool.ts";
import { transaction } from "../postgres/transaction.ts";
import { countKeyPages, KEY_PARTITIONS, purgeKeys } from "../store/cell/keyed-requests.ts";
import { lockSweep, moveSweep } from "../store/cell/sweeps.ts";
import { refuseOddClock } from "./refuse-odd-clock.ts";

/** Of one transaction: some two thousand rows. */
const PAGES_MAX = 64;
/** Of one run: 8 MB a second at most of each process, so that whoever waits for the disk notices nothing. */
const STEPS_MAX = 16;
/** Between the end of the sweep and its next beginning. */
const REST_MS = 6 * 3_600_000;

/**
 * Deletes idempotency keys that have ended. That they have is decided by their time, when they are met: this only makes room.
 * Some steps of a sweep over all of them, by one process at a time. Returns how many were deleted.
 */
export async function purgeEndedKeys(
  cell: Pool,
  days: number,
  { pagesMax = PAGES_MAX, stepsMax = STEPS_MAX, restMs = REST_MS } = {},
): Promise<number> {
  let total = 0;
  for (let i = 0; i < stepsMax; i++) {
    const deleted = await purgeStep(cell, days, { pagesMax, restMs });
    if (deleted === null) break;
    total += deleted;
  }
  return total;
}

/** Null: another process is at it, or the sweep rests. */
function purgeStep(
  cell: Pool,
  days: number,
  { pagesMax, restMs }: { readonly pagesMax: number; readonly restMs: number },
): Promise<number | null> {
  return transaction(cell, async (tx) => {
    const sweep = await lockSweep(tx, "ended keys");
    if (sweep === null) return null;
    await refuseOddClock(tx);
    const [partition = 0, from = 0] = sweep.position ?? [];
    const to = from + pagesMax;
    const deleted = await purgeKeys(tx, { partition, from, to }, days);
    const isLastPage = to >= (await countKeyPages(tx, partition));
    const isOver = isLastPage && partition + 1 === KEY_PARTITIONS;
    await moveSweep(tx, "ended keys", {
      position: isOver ? null : isLastPage ? [partition + 1, 0] : [partition, to],
      restMs: isOver ? restMs : 0,
    });
    return deleted;
  });
}
