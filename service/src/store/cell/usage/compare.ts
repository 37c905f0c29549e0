import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { readUsed, type Used } from "./chart.ts";
import { startOf } from "./customer-days.ts";
import { isInCustomers, type MeterKind, meterKindOf } from "./rows.ts";
import {
  ALL_CUSTOMERS,
  BUCKETS_OF_SLICE,
  IN_SLICE,
  type SomeCustomers,
  someParameters,
  type TimeSlice,
  USAGE_OF_SLICE,
} from "./time-slice.ts";

/** A roll-up that differs from its rows. */
export type WrongSum = {
  readonly environmentId: EnvironmentId;
  /** The roll-up's customer. Null for a roll-up of all customers. */
  readonly customerNumber: CustomerNumber | null;
  readonly at: Instant;
  /** Null if the meter does not exist. */
  readonly meter: { readonly kind: MeterKind; readonly key: string } | null;
  /** The rows' total minus the roll-up. */
  readonly missing: Used;
};

export type Comparison = {
  /** How many rows were read. */
  readonly rows: number;
  readonly wrong: WrongSum | null;
};

const IS_WRONG = "sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0";

const WRONG_COLUMNS =
  "w.environment_id, w.customer_number, (extract(epoch from w.at) * 1000)::bigint, w.kind, w.key, w.count, w.quantity, w.credits";

// Reads rows, roll-ups and progress in one snapshot, so a row that is read is also in the roll-ups, and vice versa. Rows that are
// not rolled up yet are not read.
const COMPARE_WITH_ROWS = statement(
  "usage_compare.with_rows",
  `
  with expected as materialized (${USAGE_OF_SLICE}
  ), wrong as (
    select
      a.environment_id,
      a.customer_number,
      a.bucket as at,
      a.kind,
      a.key,
      sum(a.count) as count,
      sum(a.quantity) as quantity,
      sum(a.credits) as credits
    from (
      select environment_id, customer_number, bucket, kind, key, count, quantity, credits
      from expected
      union all
      select s.environment_id, s.customer_number, s.bucket, m.kind, m.key, -s.count, -s.quantity, -s.credits
      from (${BUCKETS_OF_SLICE}) as s
      left join cell.meters as m on m.environment_id = s.environment_id and m.id = s.meter_id
    ) as a
    group by a.environment_id, a.customer_number, a.bucket, a.kind, a.key
    having ${IS_WRONG}
    limit 1
  )
  select (select coalesce(sum(e.rows), 0) from expected as e), p.slices_done > 0, ${WRONG_COLUMNS}
  from cell.usage_progress as p
  left join wrong as w on true`,
);

/**
 * Compares the buckets of some customers with the rows. `isPartial` is true while a large transaction is only partly rolled up.
 * Ignore differences in that case.
 */
export async function compareWithRows(
  tx: Tx,
  slice: TimeSlice,
  some: SomeCustomers,
): Promise<Comparison & { readonly isPartial: boolean }> {
  const { rows } = await tx.run(COMPARE_WITH_ROWS, someParameters(slice, some));
  const [count, isPartial, ...wrong] = rows[0] ?? [];
  return { rows: readInteger(count), isPartial: readBoolean(isPartial), wrong: readWrongSum(wrong) };
}

const WITH_METERS = `
  left join (
    select w.environment_id, w.customer_number, w.at, m.kind, m.key, w.count, w.quantity, w.credits
    from wrong as w
    left join cell.meters as m on m.environment_id = w.environment_id and m.id = w.meter_id
  ) as w on true`;

// Environment buckets and customer buckets are written in the same transaction, so a single statement always finds them equal, except
// during the repair of a day that is too large for one transaction.
const COMPARE_BUCKETS = statement(
  "usage_compare.buckets",
  `
  with used as materialized (
    select
      s.environment_id,
      s.bucket,
      s.meter_id,
      count(*) as rows,
      sum(s.count) as count,
      sum(s.quantity) as quantity,
      sum(s.credits) as credits
    from (${BUCKETS_OF_SLICE}) as s
    group by s.environment_id, s.bucket, s.meter_id
  ), wrong as (
    select
      a.environment_id,
      null::bigint as customer_number,
      a.bucket as at,
      a.meter_id,
      sum(a.count) as count,
      sum(a.quantity) as quantity,
      sum(a.credits) as credits
    from (
      select environment_id, bucket, meter_id, count, quantity, credits
      from used
      union all
      select environment_id, bucket, meter_id, -count, -quantity, -credits
      from cell.usage_buckets
      where ${IN_SLICE}
    ) as a
    group by a.environment_id, a.bucket, a.meter_id
    having ${IS_WRONG}
    limit 1
  )
  select (select coalesce(sum(u.rows), 0) from used as u), ${WRONG_COLUMNS}
  from (select) as one${WITH_METERS}`,
);

/** Compares the buckets of the environments with their customers' buckets. */
export async function compareBuckets(tx: Tx, slice: TimeSlice): Promise<Comparison> {
  return readComparison(await tx.run(COMPARE_BUCKETS, someParameters(slice, ALL_CUSTOMERS)));
}

const COMPARE_DAYS = statement(
  "usage_compare.days",
  `
  with summed as materialized (
    select
      d.environment_id,
      d.customer_number,
      d.day,
      d.meter_id,
      b.count - d.count as count,
      b.quantity - d.quantity as quantity,
      b.credits - d.credits as credits,
      b.size,
      (b.count, b.quantity, b.credits) is distinct from (d.count, d.quantity, d.credits) as is_wrong
    from cell.usage_customer_days as d
    cross join lateral (
      select count(*) as size, sum(b.count) as count, sum(b.quantity) as quantity, sum(b.credits) as credits
      from unnest(d.bucket_counts, d.bucket_quantities, d.bucket_credits) as b (count, quantity, credits)
    ) as b
    where d.environment_id = any ($1::integer[])
      -- Days that start in the slice.
      and d.day >= ($2::timestamptz at time zone 'UTC' + interval '23 hours 45 minutes')::date
      and d.day < ($3::timestamptz at time zone 'UTC' + interval '23 hours 45 minutes')::date
      and ${isInCustomers("d.customer_number", "$4", "$5")}
  ), wrong as (
    select s.environment_id, s.customer_number, ${startOf("s.day")} as at, s.meter_id, s.count, s.quantity, s.credits
    from summed as s
    where s.is_wrong
    limit 1
  )
  select (select coalesce(sum(s.size), 0) from summed as s), ${WRONG_COLUMNS}
  from (select) as one${WITH_METERS}`,
);

/** Compares the daily totals of some customers with their buckets, for the days that start in the slice. */
export async function compareDays(tx: Tx, slice: TimeSlice, some: SomeCustomers): Promise<Comparison> {
  return readComparison(await tx.run(COMPARE_DAYS, someParameters(slice, some)));
}

function readComparison({ rows }: Rows): Comparison {
  const [count, ...wrong] = rows[0] ?? [];
  return { rows: readInteger(count), wrong: readWrongSum(wrong) };
}

function readWrongSum(columns: readonly unknown[]): WrongSum | null {
  const [environmentId, customerNumber, at, kind, key, ...used] = columns;
  if (environmentId === null || environmentId === undefined) return null;
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: readNullable(customerNumber, (number) => brandAs<CustomerNumber>(readInteger(number))),
    at: readInstant(at),
    meter: readNullable(kind, (number) => ({ kind: meterKindOf(readInteger(number)), key: readText(key) })),
    missing: readUsed(used),
  };
}
