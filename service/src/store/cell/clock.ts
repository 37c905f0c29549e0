import { readBoolean, readInstant, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../words/brand.ts";
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

const READ_OLDEST = statement(
  "clock.read_oldest",
  `
  select (extract(epoch from min(xact_start)) * 1000)::bigint
  from pg_stat_activity
  where datname = current_database()
    and application_name like 'purser %'
    and pid <> pg_backend_pid()`,
);

/**
 * Whatever was decided on a wallet before this moment is there to be read, and nothing more of it will come: everybody of
 * ours who is in a transaction began later, and reads the clock after that. The clock first: who begins between the two
 * statements is not seen by the second, and reads a later one.
 */
export async function readSettledClock(tx: Tx): Promise<Instant> {
  const now = await readClock(tx);
  const { rows } = await tx.run(READ_OLDEST);
  return brandAs<Instant>(Math.min(now, readNullable(rows[0]?.[0], readInstant) ?? now));
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
