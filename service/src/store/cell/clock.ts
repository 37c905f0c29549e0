import { readBoolean, readInstant, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

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
  -- Whose start is not shown, to this role or to anybody: ours end within seconds, so that a minute is more than enough.
  select (extract(epoch from min(coalesce(a.xact_start, clock_timestamp() - interval '1 minute'))) * 1000)::bigint
  from pg_locks as l
  left join pg_stat_activity as a on a.pid = l.pid
  where l.locktype = 'relation'
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.relation in ('cell.wallets'::regclass, 'cell.catalogs'::regclass)
    and l.mode in ('RowShareLock', 'RowExclusiveLock')
    and l.pid is distinct from pg_backend_pid()`,
);

/**
 * Whatever was decided on a wallet before this moment is there to be read, and nothing more of it will come; and so is whatever
 * changed a catalog, which falls due in wallets that nobody touches. Who decides has looked for the wallet or the catalog with a lock,
 * and reads the clock after that; so those who hold one on the tables are all there are, by whatever name and role they came, and a
 * backup, which only reads, is none of them. The clock first: who begins between the two statements is not seen by the second, and
 * reads a later one.
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
      -- The database's address may give us another name. A backup goes by a role of its own, and is not waited for.
      and (application_name like 'purser %' or usename = current_user)
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
