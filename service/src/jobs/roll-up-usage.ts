import { BatchSize, ROWS_MAX } from "../postgres/batch-size.ts";
import type { Pool } from "../postgres/pool.ts";
import { isTooLong } from "../postgres/sql-error.ts";
import { single, transaction } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { readClock } from "../store/cell/clock.ts";
import {
  cutSlicesFiner,
  lockUsageProgress,
  readHorizon,
  readUsageProgress,
  refuseOtherServer,
  saveUsageProgress,
  type UsageProgress,
} from "../store/cell/usage/progress.ts";
import { addToRollUps, findStretch, prepareRollUp } from "../store/cell/usage/roll-up.ts";

const GROWTH = 9 / 8;
/** Maximum transactions per run. The next run adds the remaining rows. */
const TRANSACTIONS_MAX = 1_000;

export type RollUp = {
  readonly rows: number;
  /** How far the roll-ups lag. They include every request whose response is older than this lag. */
  readonly lagMs: number;
  /** False if another process was running the job, or if the pause after the previous turn was not over. */
  readonly tookTurn: boolean;
};

export type RollUpOptions = {
  readonly rowsMax?: number;
  /** Adaptive number of rows to read from each table at once. It is kept between runs, and replaces `rowsMax`. */
  readonly batch?: BatchSize;
  /** Skips this turn if any process took a turn within this time. */
  readonly restMs?: number;
};

/** The minimum time between two turns. Slightly less than one and five seconds, because timers are not exact. */
const REST_MS = { calm: 700, busy: 4_700 };
const BUSY_ROWS = 1_000;

/**
 * Runs every second. Under load, the job pauses longer between turns, so that one write includes more charges for the same customer.
 */
export class UsageJob {
  readonly #cell: Pool;
  readonly #batch = newUsageBatch();
  #restMs = REST_MS.calm;

  constructor(cell: Pool) {
    this.#cell = cell;
  }

  async run(): Promise<RollUp> {
    const restMs = this.#restMs;
    // After an error, retry soon.
    this.#restMs = REST_MS.calm;
    const rolled = await rollUpUsage(this.#cell, { batch: this.#batch, restMs });
    const isBusy = rolled.tookTurn ? rolled.rows > BUSY_ROWS : restMs === REST_MS.busy;
    if (isBusy) this.#restMs = REST_MS.busy;
    return rolled;
  }
}

/** Adds all new rows to the roll-ups in short transactions, in one process at a time. */
export async function rollUpUsage(
  cell: Pool,
  { rowsMax = ROWS_MAX, batch = newUsageBatch(rowsMax), restMs = 0 }: RollUpOptions = {},
): Promise<RollUp> {
  let rows = 0;
  let tookTurn = false;
  for (let i = 0; i < TRANSACTIONS_MAX; i++) {
    const turn = await batch
      .attempt((size) => rollUpOnce(cell, { rowsMax: size, restMs: i === 0 ? restMs : 0 }))
      .catch((error: unknown) => failWithFinerSlices(cell, error));
    if (turn === null) break;
    tookTurn = true;
    // A turn without rows does not show how many rows fit into a turn.
    if (turn.rows > 0) batch.adjust(0);
    rows += turn.rows;
    if (turn.isDone) return { rows, lagMs: turn.lagMs, tookTurn: true };
  }
  // Another process is adding rows, or many remain. Reports the stored progress, which all processes share.
  return single(cell, async (tx) => {
    const { completeTo } = await readUsageProgress(tx);
    return { rows, lagMs: (await readClock(tx)) - completeTo, tookTurn };
  });
}

export function newUsageBatch(rowsMax = ROWS_MAX): BatchSize {
  return new BatchSize({ first: rowsMax, most: rowsMax, growth: GROWTH });
}

/** After a timeout, makes the remaining slices of a large transaction smaller, then rethrows the error. */
async function failWithFinerSlices(cell: Pool, error: unknown): Promise<never> {
  if (isTooLong(error)) await transaction(cell, cutSlicesFiner);
  throw error;
}

type Turn = Omit<RollUp, "tookTurn"> & { readonly isDone: boolean };

/**
 * Writes roll-ups and progress in one transaction, so each row is added exactly once, even after a crash. A row is ready when its
 * transaction and all transactions with lower numbers have ended, because no more rows can then appear below that number. This does
 * not depend on a clock. Returns null if another process is running the job, or did so a moment ago.
 */
export function rollUpOnce(
  cell: Pool,
  { rowsMax = ROWS_MAX, restMs = 0 }: RollUpOptions = {},
): Promise<Turn | null> {
  return transaction(cell, async (tx) => {
    // Reads the clock before the horizon, so that every request answered before `now` has a transaction number below `horizon.begun`. Reads
    // both before taking the lock, because the lock gives this transaction a number, and it would then count as open.
    const now = await readClock(tx);
    const horizon = await readHorizon(tx);
    const progress = await lockUsageProgress(tx, restMs);
    if (progress === null) return null;
    const { transactionNumber: from, offset, slices } = progress;
    await refuseOtherServer(tx);
    await prepareRollUp(tx);
    // Another process may be ahead of this horizon. A partly added transaction is already committed.
    const limit = Math.max(slices.done > 0 ? from + 1 : from, horizon.over + offset);
    const stretch =
      slices.done > 0
        ? { from, to: from + 1, slices: slices.all }
        : await findStretch(tx, { from, limit, rowsMax });
    const rows = await addToRollUps(tx, stretch, slices.done);
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

/**
 * `completeTo` is the time up to which every started transaction has been added. After a failover to a server whose clock is behind,
 * it can be in the future.
 */
function moveMarks(
  { completeTo, mark, doubtfulSince }: UsageProgress,
  newest: UsageProgress["mark"],
  transactionNumber: number,
): Pick<UsageProgress, "completeTo" | "mark"> {
  // After a move to another server, rows count as missing until `verify --usage` finds none missing.
  if (doubtfulSince !== null) return { completeTo, mark: newest };
  if (transactionNumber >= newest.number) return { completeTo: newest.at, mark: newest };
  if (transactionNumber < mark.number) return { completeTo, mark };
  return { completeTo: brandAs<Instant>(Math.min(mark.at, newest.at)), mark: newest };
}
