import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { clocksAgree } from "../primitives/clocks-agree.ts";
import { readClock } from "../store/cell/clock.ts";
import { forgetNotices } from "../store/cell/notices.ts";
import { purgeRequestCounts, purgeRequestLog, tryPurgeLock } from "../store/cell/request-log.ts";

export const REQUEST_LOG_DAYS = 7;
export const NOTICE_DAYS = 30;

/** Maximum rows deleted per transaction. Kept small, because a long-running transaction slows down charges to a busy wallet. */
const ROWS_MAX = 2_000;
/** Maximum transactions per run. The next run deletes the remaining rows. */
const TRANSACTIONS_MAX = 1_000;
const DAY_MS = 24 * 3_600_000;

/** Deletes log entries older than a week. Returns the number of deleted entries. */
export async function forgetOldRequests(cell: Pool): Promise<number> {
  return forget(cell, "request_log", REQUEST_LOG_DAYS, async (tx, before, isFirst) => {
    if (isFirst) await purgeRequestCounts(tx, before);
    return purgeRequestLog(tx, before, ROWS_MAX);
  });
}

/** Deletes notices older than 30 days, with their deliveries. Returns the number of deleted notices. */
export async function forgetOldNotices(cell: Pool): Promise<number> {
  return forget(cell, "notices", NOTICE_DAYS, (tx, before) => forgetNotices(tx, before, ROWS_MAX));
}

type Purge = (tx: Tx, before: Instant, isFirst: boolean) => Promise<number>;

/** Deletes old rows in one process at a time, in short transactions. Pauses while the clocks of the database and the process differ. */
async function forget(
  cell: Pool,
  purged: Parameters<typeof tryPurgeLock>[1],
  days: number,
  purge: Purge,
): Promise<number> {
  let total = 0;
  for (let i = 0; i < TRANSACTIONS_MAX; i++) {
    const deleted = await transaction(cell, async (tx) => {
      const now = await readClock(tx);
      if (!clocksAgree(now) || !(await tryPurgeLock(tx, purged))) return 0;
      return purge(tx, brandAs<Instant>(now - days * DAY_MS), i === 0);
    });
    total += deleted;
    if (deleted < ROWS_MAX) break;
  }
  return total;
}
