import { readBoolean } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { lowestLogId } from "./request-log.ts";

const TRY_LOCK = statement(
  "request_log.try_purge_lock",
  "select pg_try_advisory_xact_lock(hashtextextended('purser.request_log_purge', 0))",
);

/** Until this transaction ends. False: another process is at it. */
export async function tryPurgeLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.run(TRY_LOCK);
  return readBoolean(rows[0]?.[0]);
}

// From one environment to the next along the primary key: an index by time alone would cost every insert.
const PURGE = statement(
  "request_log.purge",
  `
  with recursive environments as (
    (
      select l.environment_id
      from cell.request_log as l
      order by l.environment_id
      limit 1
    )
    union all
    select (
      select l.environment_id
      from cell.request_log as l
      where l.environment_id > e.environment_id
      order by l.environment_id
      limit 1
    )
    from environments as e
    where e.environment_id is not null
  )
  delete from cell.request_log as l
  using (
    select o.environment_id, o.id
    from environments as e
    cross join lateral (
      select o.environment_id, o.id
      from cell.request_log as o
      where o.environment_id = e.environment_id
        and o.id < $1::uuid
      order by o.id
      limit $2
    ) as o
    limit $2
  ) as old
  where l.environment_id = old.environment_id
    and l.id = old.id`,
);

/** Returns how many were deleted: fewer than `rowsMax` when none is left. */
export async function purgeRequestLog(tx: Tx, before: Instant, rowsMax: number): Promise<number> {
  const { rowCount } = await tx.run(PURGE, [lowestLogId(before).toString("hex"), rowsMax]);
  return rowCount;
}

const PURGE_COUNTS = statement(
  "request_counts.purge",
  `
  delete from cell.request_counts
  where hour < $1::timestamptz`,
);

/** A few hundred rows an hour in a large installation. */
export async function purgeRequestCounts(tx: Tx, before: Instant): Promise<number> {
  const { rowCount } = await tx.run(PURGE_COUNTS, [formatTimestamp(before)]);
  return rowCount;
}
