import { readInteger } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { ADDED, addGroups, isInMonths, sumsOfMonth } from "./months.ts";
import { ROWS_OF_STRETCH, rowsOfUsage } from "./rows.ts";
import type { Stretch } from "./stretch.ts";

const PREPARE = statement(
  "usage_sums.prepare",
  `
  select
    -- Nobody waits for sums: a crash that loses them loses the progress with them, and they are made again.
    set_config('synchronous_commit', 'off', true),
    set_config('jit', 'off', true)`,
);

export function prepareSums(tx: Tx): Promise<Rows> {
  return tx.run(PREPARE);
}

/** A statement cannot see the meters that it makes: hence this one before it. Nearly always it finds nothing to do. */
const MAKE_METERS = statement(
  "usage_sums.make_meters",
  `
  insert into cell.meters (environment_id, kind, key, feature_id, pool_id, reason)
  select distinct u.environment_id, u.kind, u.key, u.feature_id, u.pool_id, u.reason
  from (
    select u.environment_id, u.kind, u.key, u.feature_id, u.pool_id, u.reason
    from (${rowsOfUsage(ROWS_OF_STRETCH)}) as u
    where not exists (
      select
      from cell.meters as m
      where m.environment_id = u.environment_id
        and m.kind = u.kind
        and m.key = u.key
    )
    -- Else all rows would be sorted, only to be known.
    offset 0
  ) as u`,
);

// Whoever holds the progress is the only one who writes: so what is there is updated and what is not is inserted, by one look-up
// each. "on conflict" would write three records of the log for each row instead of one or two.
const ADD = statement(
  "usage_sums.add",
  `
  with used as materialized (
    select
      u.environment_id,
      u.quarter,
      u.customer_number,
      m.id as meter_id,
      count(*) as rows,
      sum(u.count) as count,
      sum(u.quantity) as quantity,
      sum(u.credits) as credits
    from (${rowsOfUsage(ROWS_OF_STRETCH)}) as u
    join cell.meters as m on m.environment_id = u.environment_id and m.kind = u.kind and m.key = u.key
    group by u.environment_id, u.quarter, u.customer_number, m.id
    order by u.environment_id, u.quarter, u.customer_number, m.id
  ), found as materialized (
    select
      u.environment_id, u.quarter, u.customer_number, u.meter_id, u.count, u.quantity, u.credits, s.place
    from used as u
    left join lateral (
      select c.ctid as place
      from cell.usage_customer_quarters as c
      where c.environment_id = u.environment_id
        and c.quarter = u.quarter
        and c.customer_number = u.customer_number
        and c.meter_id = u.meter_id
      offset 0
    ) as s on true
  ), updated as (
    update cell.usage_customer_quarters as s
    set
      count = s.count + f.count,
      quantity = s.quantity + f.quantity,
      credits = s.credits + f.credits
    from found as f
    where s.ctid = f.place
  ), inserted as (
    insert into cell.usage_customer_quarters
      (environment_id, quarter, customer_number, meter_id, count, quantity, credits)
    select f.environment_id, f.quarter, f.customer_number, f.meter_id, f.count, f.quantity, f.credits
    from found as f
    where f.place is null
  ), quarters as (
    insert into cell.usage_quarters as s (environment_id, quarter, meter_id, count, quantity, credits)
    select u.environment_id, u.quarter, u.meter_id, sum(u.count), sum(u.quantity), sum(u.credits)
    from used as u
    group by u.environment_id, u.quarter, u.meter_id
    order by u.environment_id, u.quarter, u.meter_id
    on conflict on constraint usage_quarters_pkey do update ${ADDED}
  ), late as materialized (
    -- A day is added to the months when it is over.
    select
      u.environment_id,
      date_trunc('month', u.quarter, 'UTC') as month,
      u.customer_number,
      u.meter_id,${sumsOfMonth("u", "date_trunc('month', u.quarter, 'UTC')")}
    from used as u
    where ${isInMonths("u")}
    group by u.environment_id, date_trunc('month', u.quarter, 'UTC'), u.customer_number, u.meter_id
  ), ${addGroups("late")}
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** Adds the rows of a stretch, or of one slice of it, to all sums. Returns how many there were. */
export async function addToSums(tx: Tx, { from, to, slices }: Stretch, slice: number): Promise<number> {
  // Planned anew each time, for the rows there are. Meters of all slices with the first: each of them reads all rows.
  if (slice === 0) await tx.run({ ...MAKE_METERS, name: "" }, [from, to, 1, 0]);
  const { rows } = await tx.run({ ...ADD, name: "" }, [from, to, slices, slice]);
  return readInteger(rows[0]?.[0]);
}
