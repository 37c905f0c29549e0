import { readBoolean, readInstant } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";

const READ = statement(
  "clock.read",
  `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint`,
);

/** The database's clock, as a statement of its own: read after the locks, never from the snapshot before the wait. */
export async function readClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ);
  return readInstant(rows[0]?.[0]);
}

const READ_SETTLED = statement(
  "clock.read_settled",
  `
  select floor(extract(epoch from least(clock_timestamp(), min(xact_start))) * 1000)::bigint
  from pg_stat_activity
  where datname = current_database()
    and application_name like 'purser %'
    and pid <> pg_backend_pid()`,
);

/**
 * Whatever was recorded before this moment is there to be read, and nothing more of it will come: everybody of ours who is
 * in a transaction began later, and reads the clock after that.
 */
export async function readSettledClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ_SETTLED);
  return readInstant(rows[0]?.[0]);
}

const ARE_WRITERS_UNDER_WAY = statement(
  "clock.are_writers_under_way",
  `
  select exists (
    select
    from pg_stat_activity
    where datname = current_database()
      and application_name like 'purser %'
      and pid <> pg_backend_pid()
      -- The clock is read in whole milliseconds.
      and xact_start <= $1::timestamptz + interval '1 millisecond'
  )`,
);

/** Whether a lane, or anybody else of ours, is still in a transaction that began by then. */
export async function areWritersUnderWay(tx: Tx, by: Instant): Promise<boolean> {
  const { rows } = await tx.run(ARE_WRITERS_UNDER_WAY, [formatTimestamp(by)]);
  return readBoolean(rows[0]?.[0]);
}
