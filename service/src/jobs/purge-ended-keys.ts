import type { Pool } from "../postgres/pool.ts";
import { transaction } from "../postgres/transaction.ts";
import { countKeyPages, KEY_PARTITIONS, purgeKeys } from "../store/cell/keyed-requests.ts";
import { lockSweep, moveSweep } from "../store/cell/sweeps.ts";

/** Maximum table pages per transaction, which have about two thousand rows. */
const PAGES_MAX = 64;
/** Maximum transactions per run. A process reads at most 8 MB per second, which leaves enough disk bandwidth for requests. */
const STEPS_MAX = 16;
/** Pause between two sweeps. */
const REST_MS = 6 * 3_600_000;

/**
 * Deletes expired idempotency keys to free space. Requests already ignore expired keys. Each run performs some steps of a sweep
 * over all keys, in one process at a time. Returns the number of deleted keys.
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

/** Null if another process is sweeping, or the sweep is paused. */
function purgeStep(
  cell: Pool,
  days: number,
  { pagesMax, restMs }: { readonly pagesMax: number; readonly restMs: number },
): Promise<number | null> {
  return transaction(cell, async (tx) => {
    const sweep = await lockSweep(tx, "ended keys");
    if (sweep === null) return null;
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
