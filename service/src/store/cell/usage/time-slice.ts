import { integers } from "../../../postgres/binary-array.ts";
import { type Parameter, statement, type Tx } from "../../../postgres/statement.ts";
import type { EnvironmentId } from "../../../primitives/brand.ts";
import { startOf } from "./customer-days.ts";
import { isInCustomers, usageOfRows, type WhereRows } from "./rows.ts";

/** A half-open range of 15-minute buckets of these environments. Both times are in PostgreSQL's format. */
export type TimeSlice = {
  readonly environments: readonly EnvironmentId[];
  readonly from: string;
  readonly to: string;
};

/** Index of a slice of the customers, from 0, and the number of slices. */
export type SomeCustomers = { readonly slices: number; readonly slice: number };

export const ALL_CUSTOMERS: SomeCustomers = { slices: 1, slice: 0 };

/** The first five parameters of every statement about some customers in a slice of time. */
export function someParameters(
  { environments, from, to }: TimeSlice,
  { slices, slice }: SomeCustomers,
): Parameter[] {
  return [integers(environments), from, to, slices, slice];
}

export const IN_SLICE = `
      environment_id = any ($1::integer[])
        and bucket >= $2::timestamptz
        and bucket < $3::timestamptz`;

/** Days of some customers that have buckets in the slice. */
export const DAYS_IN_SLICE = `
        environment_id = any ($1::integer[])
          and day >= ($2::timestamptz at time zone 'UTC')::date
          and day < ($3::timestamptz at time zone 'UTC' + interval '23 hours 45 minutes')::date
          and ${isInCustomers("customer_number", "$4", "$5")}`;

/** The slice's part of a day: the first and last slot of the arrays that are in the slice. */
const slotAt = (moment: string): string =>
  `(extract(epoch from ${moment} - ${startOf("day")}) / 900)::integer`;
const FIRST_SLOT = `greatest(array_lower(bucket_counts, 1), ${slotAt(`greatest($2::timestamptz, ${startOf("day")})`)})`;
const LAST_SLOT = `least(array_upper(bucket_counts, 1), ${slotAt(`least($3::timestamptz, ${startOf("day")} + interval '24 hours')`)} - 1)`;

/** Usage of some customers in a slice, from the roll-ups. Expands only the slice's part of a day's arrays. */
export const BUCKETS_OF_SLICE = `
      select
        b.environment_id,
        ${startOf("b.day")} + b.slot * interval '15 minutes' as bucket,
        b.customer_number,
        b.meter_id,
        b.count,
        b.quantity,
        b.credits
      from (
        select
          d.environment_id,
          d.day,
          d.customer_number,
          d.meter_id,
          generate_series(d.first, d.last) as slot,
          unnest(d.bucket_counts[d.first:d.last]) as count,
          unnest(d.bucket_quantities[d.first:d.last]) as quantity,
          unnest(d.bucket_credits[d.first:d.last]) as credits
        from (
          select environment_id, day, customer_number, meter_id, bucket_counts, bucket_quantities, bucket_credits,
            ${FIRST_SLOT} as first, ${LAST_SLOT} as last
          from cell.usage_customer_days
          where ${DAYS_IN_SLICE}
        ) as d
        where d.first <= d.last
      ) as b
      where b.count is not null or b.quantity is not null or b.credits is not null`;

// Rows that the roll-ups already contain. Avoids the index on transaction numbers, which would read rows of all times.
const IS_ADDED = `
        r.environment_id = any ($1::integer[])
        and r.transaction_number + 0 < (select p.transaction_number from cell.usage_progress as p)
        and ${isInCustomers("r.customer_number", "$4", "$5")}`;

const isIn = (time: string): string =>
  `${time} >= $2::timestamptz and ${time} < $3::timestamptz and ${IS_ADDED}`;

/** Finds rows by the time under which they are counted. Each table has an index for this time; charges have two. */
const ROWS_OF_SLICE: WhereRows = {
  events: isIn("r.occurred_at"),
  charges: [`r.effective_at is null and ${isIn("r.recorded_at")}`, isIn("r.effective_at")],
  denials: isIn("r.recorded_at"),
};

/** Usage of some customers in a slice, from the rows. */
export const USAGE_OF_SLICE = usageOfRows(ROWS_OF_SLICE);

const SETTINGS = statement(
  "usage_slice.settings",
  `
  select
    set_config('enable_hashjoin', 'on', false),
    -- A BRIN index needs it.
    set_config('enable_bitmapscan', 'on', false),
    set_config('plan_cache_mode', 'force_custom_plan', false),
    set_config('jit', 'off', false)`,
);

/** Prepares a connection for statements that read many rows. The default settings suit short statements. */
export async function prepareForSlices(tx: Tx): Promise<void> {
  await tx.run(SETTINGS);
}
