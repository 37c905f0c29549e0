import type { Pool } from "../postgres/pool.ts";
import { transaction } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { readClock } from "../store/cell/clock.ts";
import { purgeRequestCounts, purgeRequestLog, tryPurgeLock } from "../store/cell/request-log.ts";

export const REQUEST_LOG_DAYS = 7;

/** Maximum rows deleted per transaction. Kept small, because a long-running transaction slows down charges to a busy wallet. */
const ROWS_MAX = 2_000;
/** Maximum transactions per run. The next run deletes the remaining rows. */
const TRANSACTIONS_MAX = 1_000;
const DAY_MS = 24 * 3_600_000;

/** Deletes log entries older than a week, in one process at a time. Returns the number of deleted entries. */
export async function forgetOldRequests(cell: Pool): Promise<number> {
  let total = 0;
  for (let i = 0; i < TRANSACTIONS_MAX; i++) {
    const deleted = await transaction(cell, async (tx) => {
      if (!(await tryPurgeLock(tx))) return 0;
      const before = brandAs<Instant>((await readClock(tx)) - REQUEST_LOG_DAYS * DAY_MS);
      if (i === 0) await purgeRequestCounts(tx, before);
      return purgeRequestLog(tx, before, ROWS_MAX);
    });
    total += deleted;
    if (deleted < ROWS_MAX) break;
  }
  return total;
}
