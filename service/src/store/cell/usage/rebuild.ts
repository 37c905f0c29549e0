import { integers } from "../../../postgres/binary-array.ts";
import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { utcDate } from "./customer-days.ts";
import { BUCKETS_OF_DAY, DAY_COLUMNS, insertMeters, NEW_DAY } from "./roll-up.ts";
import {
  ALL_CUSTOMERS,
  BUCKETS_OF_SLICE,
  DAYS_IN_SLICE,
  IN_SLICE,
  type SomeCustomers,
  someParameters,
  type TimeSlice,
  USAGE_OF_SLICE,
} from "./time-slice.ts";

// Rebuilds the roll-ups of whole UTC days from the recorded rows. The caller must have locked `usage_progress`.

const INSERT_METERS = insertMeters("usage_rebuild.insert_meters", USAGE_OF_SLICE);

const DELETE_CUSTOMERS = statement(
  "usage_rebuild.delete_customers",
  `
  delete from cell.usage_customer_days
  where ${DAYS_IN_SLICE}`,
);

const INSERT_CUSTOMERS = statement(
  "usage_rebuild.insert_customers",
  `
  with used as materialized (
    select u.environment_id, ${utcDate("u.bucket")} as day, u.customer_number, m.id as meter_id, sum(u.rows) as rows,${BUCKETS_OF_DAY}
    from (${USAGE_OF_SLICE}) as u
    join cell.meters as m on m.environment_id = u.environment_id and m.kind = u.kind and m.key = u.key
    group by u.environment_id, ${utcDate("u.bucket")}, u.customer_number, m.id
    order by u.environment_id, day, u.customer_number, m.id
  ), inserted as (
    insert into cell.usage_customer_days (${DAY_COLUMNS})
    select ${NEW_DAY}
    from used
  )
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** Rebuilds the days of a group of customers. Returns how many rows were read. */
export async function rebuildCustomers(tx: Tx, days: TimeSlice, some: SomeCustomers): Promise<number> {
  const parameters = someParameters(days, some);
  await tx.run(INSERT_METERS, parameters);
  await tx.run(DELETE_CUSTOMERS, parameters);
  const { rows } = await tx.run(INSERT_CUSTOMERS, parameters);
  return readInteger(rows[0]?.[0]);
}

const DELETE_BUCKETS = statement(
  "usage_rebuild.delete_buckets",
  `
  delete from cell.usage_buckets
  where ${IN_SLICE}`,
);

const INSERT_BUCKETS = statement(
  "usage_rebuild.insert_buckets",
  `
  insert into cell.usage_buckets (environment_id, bucket, meter_id, count, quantity, credits)
  select s.environment_id, s.bucket, s.meter_id, sum(s.count), sum(s.quantity), sum(s.credits)
  from (${BUCKETS_OF_SLICE}) as s
  group by s.environment_id, s.bucket, s.meter_id
  order by s.environment_id, s.bucket, s.meter_id`,
);

/** Rebuilds the buckets of the environments from their customers' buckets. */
export async function rebuildBuckets(tx: Tx, days: TimeSlice): Promise<void> {
  const { environments, from, to } = days;
  await tx.run(DELETE_BUCKETS, [integers(environments), from, to]);
  await tx.run(INSERT_BUCKETS, someParameters(days, ALL_CUSTOMERS));
}
