import { readInstant, readNullable, readText } from "../../postgres/column.ts";
import { isInvalidParameter } from "../../postgres/sql-error.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";

const READ = statement(
  "clock.read",
  `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint`,
);

/** The database's clock. A separate statement, so that it is read after the locks and not from a snapshot taken before the wait. */
export async function readClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ);
  return readInstant(rows[0]?.[0]);
}

const READ_OLDEST = statement(
  "clock.read_oldest",
  `
  -- The start may be hidden from this role. Our transactions end within seconds, so a minute is enough.
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
 * All wallet decisions and catalog edits dated before the returned time are committed. Every writer locks a wallet or catalog row
 * before it reads the clock, so the locks on these two tables show all open writers, whatever their role. Backups only read and are
 * ignored. The clock is read first: a writer that starts between the two statements reads a later time.
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
    -- A pooler may change our name. A backup uses its own role and writes nothing.
    and (a.application_name like 'purser %' or a.usename = current_user)`,
);

/**
 * Purser's open transactions that have read a customer's number and may still write under that number. Each locks the customers
 * table before it takes its snapshot, and keeps the lock until it ends.
 */
export async function listCustomerTransactions(tx: Tx): Promise<string[]> {
  const { rows } = await tx.run(LIST_TRANSACTIONS);
  return rows.map(([transaction]) => readText(transaction));
}

const READ_ZONE = statement("server_zone.read", "select clock_timestamp() at time zone $1::text");

/**
 * Whether the server supports this time zone, because the server's list may be older than the list in Node.js. Needs a separate
 * transaction, because an error aborts it.
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
