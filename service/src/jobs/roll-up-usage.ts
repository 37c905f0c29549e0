import { BatchSize, ROWS_MAX } from "../postgres/batch-size.ts";
import type { Pool } from "../postgres/pool.ts";
import { isTooLong } from "../postgres/sql-error.ts";
import type { Tx } from "../postgres/statement.ts";
import { single, transaction } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { readClock } from "../store/cell/clock.ts";
import { addToMonths, findNextCustomer, moveMonths, narrowMonths } from "../store/cell/usage/months.ts";
import { refuseOtherServer } from "../store/cell/usage/other-server.ts";
import {
  cutSlicesFiner,
  lockUsageProgress,
  readHorizon,
  readUsageProgress,
  saveUsageProgress,
  type UsageProgress,
} from "../store/cell/usage/progress.ts";
import { findStretch } from "../store/cell/usage/stretch.ts";
import { addToSums, prepareSums } from "../store/cell/usage/sums.ts";

const GROWTH = 9 / 8;
/** Of customers' numbers at a time, at a day's beginning and at most. */
const WIDTH_FIRST = 1_000;
const WIDTH_MAX = 2 ** 40;
const DAY_MS = 24 * 3_600_000;
/** After a day's end, while most of what is late comes in. */
const DAY_REST_MS = 3_600_000;
/** Of one run; the next goes on. */
const TRANSACTIONS_MAX = 1_000;

export type RollUp = {
  readonly rows: number;
  /** How old the newest moment is up to which everything that was answered is in the sums. */
  readonly lagMs: number;
};

export type RollUpOptions = {
  readonly rowsMax?: number;
  /** Of each table, kept from run to run; it stands in for `rowsMax`. */
  readonly batch?: BatchSize;
  /** What another process did this short a time ago need not be done again. */
  readonly restMs?: number;
};

/** Adds what was recorded since the last time to the sums. One process at a time; in short transactions, until nothing is left. */
export async function rollUpUsage(
  cell: Pool,
  { rowsMax = ROWS_MAX, batch = newUsageBatch(rowsMax), restMs = 0 }: RollUpOptions = {},
): Promise<RollUp> {
  let rows = 0;
  for (let i = 0; i < TRANSACTIONS_MAX; i++) {
    const turn = await batch
      .attempt((size) => rollUpOnce(cell, { rowsMax: size, restMs: i === 0 ? restMs : 0 }))
      .catch((error: unknown) => takeLess(cell, error, cutSlicesFiner));
    if (turn === null) break;
    // A turn without rows, as where another process was at work, says nothing about how many can be added at once.
    if (turn.rows > 0) batch.adjust(0);
    rows += turn.rows;
    if (turn.isDone) return { rows, lagMs: turn.lagMs };
  }
  // Another process is at it: how far it is counts for all.
  return single(cell, async (tx) => {
    const { completeTo } = await readUsageProgress(tx);
    return { rows, lagMs: (await readClock(tx)) - completeTo };
  });
}

export function newUsageBatch(rowsMax = ROWS_MAX): BatchSize {
  return new BatchSize({ first: rowsMax, most: rowsMax, growth: GROWTH });
}

/** What was cut off for its length fails all the same, and is less the next time. */
async function takeLess(cell: Pool, error: unknown, less: (tx: Tx) => Promise<unknown>): Promise<never> {
  if (isTooLong(error)) await transaction(cell, less);
  throw error;
}

/**
 * Adds a day that is over to the sums of months, some customers at a time, as nobody waits for it. Returns whether there is more
 * to do.
 */
export function addDayToMonths(cell: Pool, { rowsMax = ROWS_MAX } = {}): Promise<boolean> {
  return addSomeToMonths(cell, rowsMax).catch((error: unknown) => takeLess(cell, error, narrowMonths));
}

function addSomeToMonths(cell: Pool, rowsMax: number): Promise<boolean> {
  return transaction(cell, async (tx) => {
    const now = await readClock(tx);
    const isOver = (some: Instant): boolean => some + DAY_MS <= now - DAY_REST_MS;
    // Nearly always there is nothing to do, and nothing to lock for it.
    if (!isOver((await readUsageProgress(tx)).months.to)) return false;
    const progress = await lockUsageProgress(tx);
    if (progress === null) return true;
    const { to: day, below: from, width } = progress.months;
    if (!isOver(day)) return false;
    await refuseOtherServer(tx);
    await prepareSums(tx);
    const to = from + width;
    const rows = await addToMonths(tx, day, { from, to });
    const below = await findNextCustomer(tx, day, to);
    if (below !== null) {
      const batch = new BatchSize({ first: width, most: WIDTH_MAX, growth: GROWTH });
      batch.adjust(rows / rowsMax);
      await moveMonths(tx, { to: day, below, width: batch.size });
      return true;
    }
    const next = brandAs<Instant>(day + DAY_MS);
    // Anew from little on: a quiet day says nothing about the one after it.
    await moveMonths(tx, { to: next, below: 0, width: WIDTH_FIRST });
    return isOver(next);
  });
}

type Turn = RollUp & { readonly isDone: boolean };

/**
 * Sums and progress in one transaction: whatever interrupts it, each row is added exactly once. A row is ready when its
 * transaction and all before it are over: what one of them wrote is then visible to the next statement, and nothing can be
 * added below any more. No clock is in that argument. Null: another process is at it, or was a moment ago.
 */
export function rollUpOnce(
  cell: Pool,
  { rowsMax = ROWS_MAX, restMs = 0 }: RollUpOptions = {},
): Promise<Turn | null> {
  return transaction(cell, async (tx) => {
    // The clock before the horizon: whatever was answered before it had begun, and so is below `begun`. Both before the
    // lock, which makes this transaction one of those that are not over.
    const now = await readClock(tx);
    const horizon = await readHorizon(tx);
    const progress = await lockUsageProgress(tx, restMs);
    if (progress === null) return null;
    const { transactionNumber: from, offset, slices } = progress;
    await refuseOtherServer(tx);
    await prepareSums(tx);
    // Another process may be further than this horizon. A transaction that it has begun to add is over.
    const limit = Math.max(slices.done > 0 ? from + 1 : from, horizon.over + offset);
    const stretch =
      slices.done > 0
        ? { from, to: from + 1, slices: slices.all }
        : await findStretch(tx, { from, limit, rowsMax });
    const rows = await addToSums(tx, stretch, slices.done);
    const done = slices.done + 1;
    const isWhole = done >= stretch.slices;
    const transactionNumber = isWhole ? stretch.to : from;
    const marks = moveMarks(progress, { at: now, number: horizon.begun + offset }, transactionNumber);
    await saveUsageProgress(tx, {
      transactionNumber,
      slices: isWhole ? { all: 1, done: 0 } : { all: stretch.slices, done },
      ...marks,
    });
    return { rows, lagMs: now - marks.completeTo, isDone: transactionNumber === limit };
  });
}

/** A moment is complete when all that had begun by then is in the sums; one of a faster clock, before a failover, has yet to come. */
function moveMarks(
  { completeTo, mark, doubtfulSince }: UsageProgress,
  newest: UsageProgress["mark"],
  transactionNumber: number,
): Pick<UsageProgress, "completeTo" | "mark"> {
  // Nothing is certain until the sums were verified.
  if (doubtfulSince !== null) return { completeTo, mark: newest };
  if (transactionNumber >= newest.number) return { completeTo: newest.at, mark: newest };
  if (transactionNumber < mark.number) return { completeTo, mark };
  return { completeTo: brandAs<Instant>(Math.min(mark.at, newest.at)), mark: newest };
}
