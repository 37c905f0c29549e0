import { readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import type { EnvironmentId, Instant } from "../../../primitives/brand.ts";
import { type Comparison, readWrongSum } from "./expected.ts";
import { addGroups, isInMonths, sumsOfMonth } from "./months.ts";
import { IN_SLICE, sliceParameters, type TimeSlice } from "./time-slice.ts";

// All levels are written by one transaction, but for the repair of a quarter that is too much for one: so that one statement sees
// them agree or not, whenever it looks.

const FOUND = `
  select
    (select coalesce(sum(u.rows), 0) from used as u),
    w.environment_id, w.customer_number, w.at, w.kind, w.key, w.count, w.quantity, w.credits
  from (select) as one
  left join wrong as w on true`;

function readComparison({ rows }: Rows): Comparison {
  const [count, ...wrong] = rows[0] ?? [];
  return { rows: readInteger(count), wrong: readWrongSum(wrong) };
}

const COMPARE_QUARTERS = statement(
  "usage_levels.compare_quarters",
  `
  with used as materialized (
    select
      environment_id,
      quarter,
      meter_id,
      count(*) as rows,
      sum(count) as count,
      sum(quantity) as quantity,
      sum(credits) as credits
    from cell.usage_customer_quarters
    where ${IN_SLICE}
    group by environment_id, quarter, meter_id
  ), wrong as (
    select
      a.environment_id,
      null::bigint as customer_number,
      (extract(epoch from a.quarter) * 1000)::bigint as at,
      m.kind,
      m.key,
      sum(a.count) as count,
      sum(a.quantity) as quantity,
      sum(a.credits) as credits
    from (
      select environment_id, quarter, meter_id, -count as count, -quantity as quantity, -credits as credits
      from cell.usage_quarters
      where ${IN_SLICE}
      union all
      select environment_id, quarter, meter_id, count, quantity, credits
      from used
    ) as a
    left join cell.meters as m on m.environment_id = a.environment_id and m.id = a.meter_id
    group by a.environment_id, a.quarter, a.meter_id, m.kind, m.key
    having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
    limit 1
  )
  ${FOUND}`,
);

/** The environment's sums against those of its customers. */
export async function compareQuarters(tx: Tx, slice: TimeSlice): Promise<Comparison> {
  return readComparison(await tx.run(COMPARE_QUARTERS, sliceParameters(slice)));
}

const READ_MONTHS = statement(
  "usage_levels.read_months",
  `
  select
    (extract(epoch from least(
      (select min(q.quarter) from cell.usage_customer_quarters as q where q.environment_id = $1),
      (select min(m.month) from cell.usage_customer_months as m where m.environment_id = $1)
    )) * 1000)::bigint,
    (extract(epoch from greatest(
      (select max(q.quarter) from cell.usage_customer_quarters as q where q.environment_id = $1),
      (select max(m.month) from cell.usage_customer_months as m where m.environment_id = $1)
    )) * 1000)::bigint,
    coalesce((select min(c.number) from cell.customers as c where c.environment_id = $1), 0),
    coalesce((select max(c.number) from cell.customers as c where c.environment_id = $1), 0)`,
);

export type CustomersExtent = {
  /** A moment in the first month that has sums of customers, and one in the last. */
  readonly first: Instant;
  readonly last: Instant;
  /** No customer has a lower number, */
  readonly numberMin: number;
  /** and none a higher one. */
  readonly numberMax: number;
};

/** Null: the environment has no sums of customers. */
export async function readCustomersExtent(
  tx: Tx,
  environmentId: EnvironmentId,
): Promise<CustomersExtent | null> {
  const { rows } = await tx.run(READ_MONTHS, [environmentId]);
  const [row] = rows;
  const first = readNullable(row?.[0] ?? null, readInstant);
  const last = readNullable(row?.[1] ?? null, readInstant);
  if (first === null || last === null) return null;
  return { first, last, numberMin: readInteger(row?.[2]), numberMax: readInteger(row?.[3]) };
}

/** Some customers of one month: those from a number on, up to but without another. */
export type MonthOfCustomers = {
  readonly environmentId: EnvironmentId;
  /** The first moment of the month, and that of the next, as RFC 3339. */
  readonly from: string;
  readonly to: string;
  readonly numberFrom: number;
  readonly numberTo: number;
};

// One look-up for each quarter, so that no customer is passed by who is not asked for.
const QUARTERS = `
    from generate_series($2::timestamptz, $3::timestamptz - interval '15 minutes', interval '15 minutes') as q (quarter)
    cross join lateral (
      select c.environment_id, c.quarter, c.customer_number, c.meter_id, c.count, c.quantity, c.credits
      from cell.usage_customer_quarters as c
      where c.environment_id = $1
        and c.quarter = q.quarter
        and c.customer_number >= $4
        and c.customer_number < $5
        and ${isInMonths("c")}
      offset 0
    ) as c`;

const IN_MONTH = `
        environment_id = $1
        and month = $2::timestamptz
        -- Not a month's end: named, so that one list of parameters serves all.
        and month < $3::timestamptz
        and customer_number >= $4
        and customer_number < $5`;

const COMPARE_MONTHS = statement(
  "usage_levels.compare_months",
  `
  with used as materialized (
    select c.environment_id, c.quarter, c.customer_number, c.meter_id, 1 as rows, c.count, c.quantity, c.credits
    ${QUARTERS}
  ), wrong as (
    select
      $1::integer as environment_id,
      a.customer_number,
      (extract(epoch from coalesce(a.quarter, $2::timestamptz)) * 1000)::bigint as at,
      m.kind,
      m.key,
      sum(a.count) as count,
      sum(a.quantity) as quantity,
      sum(a.credits) as credits
    from (
      -- The month as a whole has no quarter.
      select null::timestamptz as quarter, customer_number, meter_id, -count as count, -quantity as quantity, -credits as credits
      from cell.usage_customer_months
      where ${IN_MONTH}
      union all
      select null, customer_number, meter_id, count, quantity, credits
      from used
      union all
      select
        $2::timestamptz + e.slot * interval '15 minutes', o.customer_number, o.meter_id, -e.count, -e.quantity, -e.credits
      from cell.usage_customer_slots as o
      cross join lateral unnest(o.slots, o.counts, o.quantities, o.credits) as e (slot, count, quantity, credits)
      where ${IN_MONTH}
      union all
      select quarter, customer_number, meter_id, count, quantity, credits
      from used
    ) as a
    left join cell.meters as m on m.environment_id = $1 and m.id = a.meter_id
    group by a.quarter, a.customer_number, a.meter_id, m.kind, m.key
    having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
    limit 1
  )
  ${FOUND}`,
);

/** What customers used in a month against what they used in its quarters of an hour. */
export async function compareMonths(tx: Tx, some: MonthOfCustomers): Promise<Comparison> {
  return readComparison(await tx.run(COMPARE_MONTHS, parametersOf(some)));
}

const DELETE_MONTHS = statement(
  "usage_levels.delete_months",
  `
  delete from cell.usage_customer_months
  where ${IN_MONTH}`,
);

const DELETE_SLOTS = statement(
  "usage_levels.delete_slots",
  `
  delete from cell.usage_customer_slots
  where ${IN_MONTH}`,
);

const INSERT_MONTHS = statement(
  "usage_levels.insert_months",
  `
  with used as materialized (
    select
      c.environment_id,
      $2::timestamptz as month,
      c.customer_number,
      c.meter_id,
      count(*) as rows,${sumsOfMonth("c", "$2::timestamptz")}
    ${QUARTERS}
    group by c.environment_id, c.customer_number, c.meter_id
  ), ${addGroups("used")}
  select coalesce(sum(u.rows), 0)
  from used as u`,
);

/** The progress must be locked: nobody may add to either meanwhile. Returns how many sums of quarters were read. */
export async function remakeMonths(tx: Tx, some: MonthOfCustomers): Promise<number> {
  await tx.run(DELETE_MONTHS, parametersOf(some));
  await tx.run(DELETE_SLOTS, parametersOf(some));
  const { rows } = await tx.run(INSERT_MONTHS, parametersOf(some));
  return readInteger(rows[0]?.[0]);
}

function parametersOf({ environmentId, from, to, numberFrom, numberTo }: MonthOfCustomers) {
  return [environmentId, from, to, numberFrom, numberTo];
}
