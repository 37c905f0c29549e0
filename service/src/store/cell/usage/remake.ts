import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  IN_SLICE,
  OF_SOME_IN_SLICE,
  type SomeCustomers,
  sliceParameters,
  someParameters,
  type TimeSlice,
  USAGE_OF_SLICE,
} from "./time-slice.ts";

// Sums anew. The progress must be locked.

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

const DELETE_CUSTOMERS = statement(
  "usage_remake.delete_customers",
  `
  delete from cell.usage_customer_quarters
  where ${OF_SOME_IN_SLICE}`,
);

const INSERT_CUSTOMERS = statement(
  "usage_remake.insert_customers",
  `
  with used as materialized (
    select e.environment_id, e.quarter, e.customer_number, m.id as meter_id, e.rows, e.count, e.quantity, e.credits
    from (${USAGE_OF_SLICE}) as e
    join cell.meters as m on m.environment_id = e.environment_id and m.kind = e.kind and m.key = e.key
    order by e.environment_id, e.quarter, e.customer_number, m.id
  ), inserted as (
    insert into cell.usage_customer_quarters
      (environment_id, quarter, customer_number, meter_id, count, quantity, credits)
    select environment_id, quarter, customer_number, meter_id, count, quantity, credits
    from used
  )
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** What some customers used, from the rows. Returns how many were read. */
export async function remakeCustomers(tx: Tx, slice: TimeSlice, some: SomeCustomers): Promise<number> {
  const parameters = someParameters(slice, some);
  await tx.run(MAKE_METERS, parameters);
  await tx.run(DELETE_CUSTOMERS, parameters);
  const { rows } = await tx.run(INSERT_CUSTOMERS, parameters);
  return readInteger(rows[0]?.[0]);
}

const DELETE_QUARTERS = statement(
  "usage_remake.delete_quarters",
  `
  delete from cell.usage_quarters
  where ${IN_SLICE}`,
);

const INSERT_QUARTERS = statement(
  "usage_remake.insert_quarters",
  `
  insert into cell.usage_quarters (environment_id, quarter, meter_id, count, quantity, credits)
  select environment_id, quarter, meter_id, sum(count), sum(quantity), sum(credits)
  from cell.usage_customer_quarters
  where ${IN_SLICE}
  group by environment_id, quarter, meter_id
  order by environment_id, quarter, meter_id`,
);

/** What all of them used, from what each did. */
export async function remakeQuarters(tx: Tx, slice: TimeSlice): Promise<void> {
  await tx.run(DELETE_QUARTERS, sliceParameters(slice));
  await tx.run(INSERT_QUARTERS, sliceParameters(slice));
}
