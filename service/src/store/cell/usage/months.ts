import { readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";

// A day that is over is added to the sums of months, some customers at a time. What comes late is added at once to those that
// are in already. The progress must be locked.

/** Whether what a customer used in a quarter is in the sums of months: of a row with these columns. */
export const isInMonths = (alias: string): string => `(
      ${alias}.quarter < (select p.months_to from cell.usage_progress as p)
      or (
        ${alias}.quarter < (select p.months_to + interval '24 hours' from cell.usage_progress as p)
        and ${alias}.customer_number < (select p.months_below from cell.usage_progress as p)
      )
    )`;

export const ADDED = `
    set
      count = s.count + excluded.count,
      quantity = s.quantity + excluded.quantity,
      credits = s.credits + excluded.credits`;

/** More than a month has quarters: then those that are there several times become one. */
const SLOTS_MAX = 4_000;

/** Each quarter as often as it came, until they are too many. */
const SLOTS_ADDED = `
    set (slots, counts, quantities, credits) = (
      select a.slots, a.counts, a.quantities, a.credits
      from (
        select
          s.slots || excluded.slots as slots,
          s.counts || excluded.counts as counts,
          s.quantities || excluded.quantities as quantities,
          s.credits || excluded.credits as credits
      ) as a
      where cardinality(a.slots) <= ${SLOTS_MAX}
      union all
      select array_agg(m.slot), array_agg(m.count), array_agg(m.quantity), array_agg(m.credits)
      from (
        select e.slot, sum(e.count)::bigint as count, sum(e.quantity) as quantity, sum(e.credits) as credits
        from unnest(
          s.slots || excluded.slots, s.counts || excluded.counts, s.quantities || excluded.quantities, s.credits || excluded.credits
        ) as e (slot, count, quantity, credits)
        group by e.slot
      ) as m
      having cardinality(s.slots) + cardinality(excluded.slots) > ${SLOTS_MAX}
    )`;

/** What the quarters of a customer's month come to: of rows with these columns, in groups of customer and meter. */
export const sumsOfMonth = (alias: string, month: string): string => `
      sum(${alias}.count) as count,
      sum(${alias}.quantity) as quantity,
      sum(${alias}.credits) as credits,
      array_agg((extract(epoch from ${alias}.quarter - ${month}) / 900)::smallint) as slots,
      array_agg(${alias}.count::bigint) as slot_counts,
      array_agg(${alias}.quantity::numeric) as slot_quantities,
      array_agg(${alias}.credits::numeric) as slot_credits`;

const KEY = "environment_id, month, customer_number, meter_id";

/** Adds what these groups come to: two parts of a statement. */
export const addGroups = (groups: string): string => `
  months as (
    insert into cell.usage_customer_months as s (${KEY}, count, quantity, credits)
    select ${KEY}, count, quantity, credits
    from ${groups}
    order by ${KEY}
    on conflict on constraint usage_customer_months_pkey do update ${ADDED}
  ), slots as (
    insert into cell.usage_customer_slots as s (${KEY}, slots, counts, quantities, credits)
    select ${KEY}, slots, slot_counts, slot_quantities, slot_credits
    from ${groups}
    order by ${KEY}
    on conflict on constraint usage_customer_slots_pkey do update ${SLOTS_ADDED}
  )`;

/** Some customers: those whose numbers are in the range. */
export type Numbers = { readonly from: number; readonly to: number };

// One look-up for each environment and quarter, so that no customer is passed by who is not asked for.
const quartersOfDay = (condition: string): string => `
    from (select distinct m.environment_id from cell.meters as m) as e
    cross join generate_series($1::timestamptz, $1::timestamptz + interval '23 hours 45 minutes', interval '15 minutes') as q (quarter)
    cross join lateral (
      select c.environment_id, c.quarter, c.customer_number, c.meter_id, c.count, c.quantity, c.credits
      from cell.usage_customer_quarters as c
      where c.environment_id = e.environment_id
        and c.quarter = q.quarter
        and ${condition}
      offset 0
    ) as c`;

const ADD = statement(
  "usage_months.add",
  `
  with used as materialized (
    select
      c.environment_id,
      date_trunc('month', $1::timestamptz, 'UTC') as month,
      c.customer_number,
      c.meter_id,
      count(*) as rows,${sumsOfMonth("c", "date_trunc('month', $1::timestamptz, 'UTC')")}
    ${quartersOfDay("c.customer_number >= $2 and c.customer_number < $3")}
    group by c.environment_id, c.customer_number, c.meter_id
  ), ${addGroups("used")}
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** Returns how many sums of quarters were read. */
export async function addToMonths(tx: Tx, day: Instant, { from, to }: Numbers): Promise<number> {
  const { rows } = await tx.run({ ...ADD, name: "" }, [formatTimestamp(day), from, to]);
  return readInteger(rows[0]?.[0]);
}

const FIND_NEXT = statement(
  "usage_months.find_next",
  `
  select min(c.customer_number)
  ${quartersOfDay("c.customer_number >= $2\n      order by c.customer_number\n      limit 1")}`,
);

/** The first customer from this number on who used anything that day. Numbers have gaps as wide as a whole range. */
export async function findNextCustomer(tx: Tx, day: Instant, from: number): Promise<number | null> {
  const { rows } = await tx.run({ ...FIND_NEXT, name: "" }, [formatTimestamp(day), from]);
  return readNullable(rows[0]?.[0] ?? null, readInteger);
}

export type MonthsProgress = {
  /** The days before this one are in the sums of months, */
  readonly to: Instant;
  /** and of this one the customers below this number. */
  readonly below: number;
  /** How many numbers to take next. */
  readonly width: number;
};

const MOVE = statement(
  "usage_months.move",
  `
  update cell.usage_progress
  set
    months_to = $1::timestamptz,
    months_below = $2,
    months_width = $3`,
);

export function moveMonths(tx: Tx, { to, below, width }: MonthsProgress): Promise<Rows> {
  return tx.run(MOVE, [formatTimestamp(to), below, width]);
}

const NARROW = statement(
  "usage_months.narrow",
  `
  update cell.usage_progress
  set months_width = greatest(1, months_width / 2)`,
);

/** Half as many customers the next time. */
export function narrowMonths(tx: Tx): Promise<Rows> {
  return tx.run(NARROW);
}
