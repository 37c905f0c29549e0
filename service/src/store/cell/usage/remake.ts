import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { IN_SLICE, sliceParameters, type TimeSlice, USAGE_OF_SLICE } from "./time-slice.ts";

// Sums anew, from the rows. The progress must be locked.

const MAKE_METERS = statement(
  "usage_remake.make_meters",
  `
  insert into cell.meters (environment_id, kind, key, feature_id, pool_id, reason)
  select distinct e.environment_id, e.kind, e.key, e.feature_id, e.pool_id, e.reason
  from (${USAGE_OF_SLICE}) as e
  -- "on conflict" would use up a number for each that is there.
  where not exists (
    select
    from cell.meters as m
    where m.environment_id = e.environment_id
      and m.kind = e.kind
      and m.key = e.key
  )`,
);

const DELETE_QUARTERS = statement(
  "usage_remake.delete_quarters",
  `
  delete from cell.usage_quarters
  where ${IN_SLICE}`,
);

const DELETE_CUSTOMER_QUARTERS = statement(
  "usage_remake.delete_customer_quarters",
  `
  delete from cell.usage_customer_quarters
  where ${IN_SLICE}`,
);

const INSERT = statement(
  "usage_remake.insert",
  `
  with used as materialized (
    select e.environment_id, e.quarter, e.customer_number, m.id as meter_id, e.rows, e.count, e.quantity, e.credits
    from (${USAGE_OF_SLICE}) as e
    join cell.meters as m on m.environment_id = e.environment_id and m.kind = e.kind and m.key = e.key
    order by e.environment_id, e.quarter, e.customer_number, m.id
  ), customers as (
    insert into cell.usage_customer_quarters
      (environment_id, quarter, customer_number, meter_id, count, quantity, credits)
    select environment_id, quarter, customer_number, meter_id, count, quantity, credits
    from used
  ), quarters as (
    insert into cell.usage_quarters (environment_id, quarter, meter_id, count, quantity, credits)
    select environment_id, quarter, meter_id, sum(count), sum(quantity), sum(credits)
    from used
    group by environment_id, quarter, meter_id
  )
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** Returns how many rows were read. */
export async function remakeQuarters(tx: Tx, slice: TimeSlice): Promise<number> {
  const parameters = sliceParameters(slice);
  await tx.run(MAKE_METERS, parameters);
  await tx.run(DELETE_CUSTOMER_QUARTERS, parameters);
  await tx.run(DELETE_QUARTERS, parameters);
  const { rows } = await tx.run(INSERT, parameters);
  return readInteger(rows[0]?.[0]);
}
