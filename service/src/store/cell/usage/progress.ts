import { readBoolean, readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { SLICES_MAX } from "./rows.ts";

/** How far the roll-ups have progressed. */
export type UsageProgress = {
  /** The roll-ups contain the rows of all transactions with lower numbers. */
  readonly transactionNumber: number;
  /** The slices of this transaction that the roll-ups contain. If there are any, the transaction has ended. */
  readonly slices: { readonly all: number; readonly done: number };
  /** Every request that returned before this moment is in the roll-ups. */
  readonly completeTo: Instant;
  /** `at` becomes `completeTo` when all transactions below `number` are added. */
  readonly mark: { readonly at: Instant; readonly number: number };
  /** The offset added to the server's own transaction numbers. */
  readonly offset: number;
  /** When the database moved to another server. Roll-ups since then may lack rows. Null if the roll-ups are complete. */
  readonly doubtfulSince: Instant | null;
};

const COLUMNS = `
    transaction_number,
    slices,
    slices_done,
    (extract(epoch from complete_to) * 1000)::bigint,
    (extract(epoch from mark_at) * 1000)::bigint,
    mark_number,
    offset_by,
    (extract(epoch from doubtful_since) * 1000)::bigint`;

const LOCK = statement(
  "usage_progress.lock",
  `
  select ${COLUMNS}
  from cell.usage_progress
  where turned_at <= clock_timestamp() - make_interval(secs => $1::double precision / 1000)
    -- After a failover to a server whose clock is behind.
    or turned_at > clock_timestamp()
  for update skip locked`,
);

/** Takes the lock for adding to the roll-ups. Null if another process holds it, or any process took a turn within the last `restMs`. */
export async function lockUsageProgress(tx: Tx, restMs = 0): Promise<UsageProgress | null> {
  const { rows } = await tx.run(LOCK, [restMs]);
  return rows[0] === undefined ? null : readProgress(rows[0]);
}

const WAIT = statement(
  "usage_progress.wait",
  `
  select ${COLUMNS}
  from cell.usage_progress
  for update`,
);

/** Waits for the lock for adding to the roll-ups. While it is held, no other process can add to them. */
export async function waitForUsageProgress(tx: Tx): Promise<UsageProgress> {
  const { rows } = await tx.run(WAIT);
  return readProgress(rows[0] ?? []);
}

const READ = statement(
  "usage_progress.read",
  `
  select ${COLUMNS}
  from cell.usage_progress`,
);

export async function readUsageProgress(tx: Tx): Promise<UsageProgress> {
  const { rows } = await tx.run(READ);
  return readProgress(rows[0] ?? []);
}

function readProgress(row: readonly unknown[]): UsageProgress {
  const [number, slices, slicesDone, completeTo, markAt, markNumber, offset, doubtful] = row;
  return {
    transactionNumber: readInteger(number),
    slices: { all: readInteger(slices), done: readInteger(slicesDone) },
    completeTo: readInstant(completeTo),
    mark: { at: readInstant(markAt), number: readInteger(markNumber) },
    offset: readInteger(offset),
    doubtfulSince: readNullable(doubtful ?? null, readInstant),
  };
}

const SAVE = statement(
  "usage_progress.save",
  `
  update cell.usage_progress
  set
    transaction_number = $1,
    slices = $2,
    slices_done = $3,
    complete_to = $4::timestamptz,
    mark_at = $5::timestamptz,
    mark_number = $6,
    turned_at = clock_timestamp()`,
);

export function saveUsageProgress(
  tx: Tx,
  progress: Pick<UsageProgress, "transactionNumber" | "slices" | "completeTo" | "mark">,
): Promise<Rows> {
  const { transactionNumber, slices, completeTo, mark } = progress;
  return tx.run(SAVE, [
    transactionNumber,
    slices.all,
    slices.done,
    formatTimestamp(completeTo),
    formatTimestamp(mark.at),
    mark.number,
  ]);
}

const CLEAR_DOUBT = statement(
  "usage_progress.clear_doubt",
  `
  update cell.usage_progress
  set doubtful_since = null
  where doubtful_since = $1::timestamptz`,
);

/** Called after `purser verify --usage` found all rows since `since` in the roll-ups. */
export function clearDoubt(tx: Tx, since: Instant): Promise<Rows> {
  return tx.run(CLEAR_DOUBT, [formatTimestamp(since)]);
}

const CUT_FINER = statement(
  "usage_progress.cut_finer",
  `
  update cell.usage_progress
  set
    slices = 2 * slices,
    slices_done = 2 * slices_done
  where slices_done > 0
    and slices <= ${SLICES_MAX / 2}`,
);

/** Halves the remaining slices of a transaction that is partly added. */
export function cutSlicesFiner(tx: Tx): Promise<Rows> {
  return tx.run(CUT_FINER);
}

const READ_HORIZON = statement(
  "usage_progress.read_horizon",
  `
  select
    pg_snapshot_xmin(s.snapshot)::text::bigint,
    pg_snapshot_xmax(s.snapshot)::text::bigint
  from (select pg_current_snapshot() as snapshot) as s`,
);

/** Transaction numbers of this server, without the offset. */
export type Horizon = {
  /** All transactions below this number have ended, so later statements see all of their rows. */
  readonly over: number;
  /** All transactions whose commit was confirmed are below this number. */
  readonly begun: number;
};

export async function readHorizon(tx: Tx): Promise<Horizon> {
  const { rows } = await tx.run(READ_HORIZON);
  return { over: readInteger(rows[0]?.[0]), begun: readInteger(rows[0]?.[1]) };
}

const IS_OTHER = statement("usage_progress.is_other_server", "select cell.is_other_server()");

/**
 * Throws if the database has moved to another server, which would reuse transaction numbers. Rows with reused numbers would be skipped
 * (migration 16).
 */
export async function refuseOtherServer(tx: Tx): Promise<void> {
  const { rows } = await tx.run(IS_OTHER);
  if (readBoolean(rows[0]?.[0]))
    throw new Error(
      "this is not the database server on which the usage was recorded: run purser migrate, then " +
        "purser verify --usage, and repair the days it lists",
    );
}
