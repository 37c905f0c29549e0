import { readInstant, readNullable, readText } from "../../postgres/column.ts";
import { isInvalidParameter } from "../../postgres/sql-error.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";

const READ = statement(
  "clock.read",
  `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint`,
);

/** Reads the database clock in a separate statement, so that the time is read only after earlier statements have acquired their locks. */
export async function readClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ);
  return readInstant(rows[0]?.[0]);
}

const READ_OLDEST = statement(
  "clock.read_oldest",
  `
  -- This role may be unable to see when a transaction started. One minute is enough: Purser's transactions end within seconds.
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
 * Returns a time before which all wallet decisions and catalog edits are committed. Every writer locks a wallet or catalog row before it
 * reads the clock, so the locks on these two tables show all open writers of any role. Backups only read and are ignored. The clock is
 * read first, because a writer that starts between the two statements then reads a later time.
 */
export async function readSettledClock(tx: Tx): Promise<Instant> {
  const now = await readClock(tx);
  const { rows } = await tx.run(READ_OLDEST);
  return brandAs<Instant>(Math.min(now, readNullable(rows[0]?.[0], readInstant) ?? now));
}

const LIST_TRANSACTIONS = statement(
  "clock.list_customer_transactions",
  `
  select distinct l.virtualtransaction
  from pg_locks as l
  join pg_stat_activity as a on a.pid = l.pid
  where l.locktype = 'relation'
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.relation = 'cell.customers'::regclass
    and l.pid <> pg_backend_pid()
    -- A connection pooler may replace application_name, so the role is compared too. Backups use another role and write nothing.
    and (a.application_name like 'purser %' or a.usename = current_user)`,
);

/**
 * Lists Purser's open transactions that may have read a customer's number and may still write with that number. Each transaction locks
 * the customers table before it takes its snapshot, and holds the lock until the end.
 */
export async function listCustomerTransactions(tx: Tx): Promise<string[]> {
  const { rows } = await tx.run(LIST_TRANSACTIONS);
  return rows.map(([transaction]) => readText(transaction));
}

const READ_ZONE = statement("server_zone.read", "select clock_timestamp() at time zone $1::text");

/**
 * True if the database server supports this time zone. The server's time zone list may be older than the list in Node.js. Needs a separate
 * transaction, because an unsupported zone causes an error that aborts the transaction.
 */
export async function isServerZone(tx: Tx, name: string): Promise<boolean> {
  try {
    await tx.run(READ_ZONE, [name]);
    return true;
  } catch (error) {
    if (isInvalidParameter(error)) return false;
    throw error;
  }
}
