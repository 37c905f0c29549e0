import { readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";

// Roll-ups are kept when the months of their rows are detached. Roll-ups of a detached month can be neither verified nor rebuilt.

const TABLES = ["events", "ledger", "denials"] as const;
type Table = (typeof TABLES)[number];

/** The months of all three tables. */
export const ATTACHED = `
    select
      i.inhparent as parent,
      substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''([^'']+)''\\)')::timestamptz as since,
      substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)')::timestamptz as until
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    where i.inhparent in ('cell.events'::regclass, 'cell.ledger'::regclass, 'cell.denials'::regclass)
      and not i.inhdetachpending`;

const REMEMBER = statement(
  "attached_months.remember",
  `
  update cell.usage_progress
  set rows_since = a.since
  from (select min(m.since) as since from (${ATTACHED}) as m) as a
  where a.since < rows_since`,
);

/** Stores the first attached month. Any month since then that is no longer attached is reported as detached. */
export function rememberFirstMonth(tx: Tx): Promise<Rows> {
  return tx.run(REMEMBER);
}

const COUNT_PASSED_BY = statement(
  "attached_months.count_passed_by",
  `
  select least(12, greatest(0, extract(year from t.age) * 12 + extract(month from t.age)))::integer
  from (
    -- Partitions are created for all tables at once: if one table has a month, the others had it too.
    select age(date_trunc('month', now() at time zone 'UTC'), max(m.until) at time zone 'UTC') as age
    from (${ATTACHED}) as m
  ) as t`,
);

/**
 * Counts months up to now that have no partitions because no service was running. These months would count as detached. Returns at most 12.
 */
export async function countMonthsPassedBy(tx: Tx): Promise<number> {
  const { rows } = await tx.run(COUNT_PASSED_BY);
  return readNullable(rows[0]?.[0] ?? null, readInteger) ?? 0;
}

const FIND_GAP = statement(
  "attached_months.find_gap",
  `
  with attached as (
    select a.parent, a.since, a.until
    from (${ATTACHED}) as a
    where a.parent = any ($1::text[]::regclass[])
  )
  select (extract(epoch from max(m.since)) * 1000)::bigint
  from attached as m
  where m.since > (
      select least(p.rows_since, (select min(f.since) from attached as f))
      from cell.usage_progress as p
    )
    -- A gap in the future hides no rows.
    and not exists (
      select
      from attached as b
      where b.parent = m.parent
        and b.until < m.since
        and b.until > clock_timestamp()
    )
    and not exists (
      select
      from attached as b
      where b.parent = m.parent
        and b.until = m.since
    )`,
);

/** An event's timestamp can be at most a few minutes after its recording. One hour leaves a margin. */
const AHEAD_MAX_MS = 3_600_000;

/** The moment since which all usage rows are attached. Null if no usage row is detached. */
export async function findWholeSince(tx: Tx): Promise<Instant | null> {
  return allowForAhead(await findGapEnd(tx, TABLES));
}

/** The moment since which all events are attached. Null if no event is detached. */
export async function findWholeEventsSince(tx: Tx): Promise<Instant | null> {
  return allowForAhead(await findGapEnd(tx, ["events"]));
}

function allowForAhead(gapEnd: Instant | null): Instant | null {
  return gapEnd === null ? null : brandAs<Instant>(gapEnd + AHEAD_MAX_MS);
}

/** The moment since which all recorded ledger entries are attached. Null if no entry is detached. */
export function findWholeLedgerSince(tx: Tx): Promise<Instant | null> {
  return findGapEnd(tx, ["ledger"]);
}

const hold = (table: Table) =>
  statement(
    `attached_months.hold_${table}`,
    `
  lock table cell.${table} in access share mode`,
  );
const HOLD = { events: hold("events"), ledger: hold("ledger") } as const;

/**
 * Must be the first statement of a snapshot that reads the ledger and checks which months are attached. Otherwise, a month that is detached
 * after the snapshot was taken would still count as attached.
 */
export function holdLedger(tx: Tx): Promise<Rows> {
  return tx.run(HOLD.ledger);
}

export function holdEvents(tx: Tx): Promise<Rows> {
  return tx.run(HOLD.events);
}

async function findGapEnd(tx: Tx, tables: readonly Table[]): Promise<Instant | null> {
  const { rows } = await tx.run(FIND_GAP, [tables.map((table) => `cell.${table}`)]);
  return readNullable(rows[0]?.[0] ?? null, readInstant);
}
