import { readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../words/brand.ts";
import { type ExpectedRange, readWrongSum, type WrongSum } from "./expected.ts";
import { isInMonths, OF_ANY_ENVIRONMENT } from "./months.ts";

// All levels are written by one transaction, so that one statement sees them agree or not, whenever it looks.

const READ_EXTENT = statement(
  "usage_levels.read_extent",
  `
  select
    (extract(epoch from min(quarter)) * 1000)::bigint,
    (extract(epoch from max(quarter)) * 1000)::bigint
  from cell.usage_quarters`,
);

/** Null: nothing was added up yet. */
export async function readExtent(
  tx: Tx,
): Promise<{ readonly first: Instant; readonly last: Instant } | null> {
  const { rows } = await tx.run(READ_EXTENT);
  const first = readNullable(rows[0]?.[0] ?? null, readInstant);
  const last = readNullable(rows[0]?.[1] ?? null, readInstant);
  return first === null || last === null ? null : { first, last };
}

const COMPARE_QUARTERS = statement(
  "usage_levels.compare_quarters",
  `
  select
    a.environment_id,
    null,
    (extract(epoch from a.quarter) * 1000)::bigint,
    m.key,
    sum(a.count),
    sum(a.quantity),
    sum(a.credits)
  from (
    select environment_id, quarter, meter_id, -count as count, -quantity as quantity, -credits as credits
    from cell.usage_quarters
    where ${OF_ANY_ENVIRONMENT}
      and quarter >= $1::timestamptz
      and quarter < $2::timestamptz
    union all
    select environment_id, quarter, meter_id, sum(count), sum(quantity), sum(credits)
    from cell.usage_customer_quarters
    where ${OF_ANY_ENVIRONMENT}
      and quarter >= $1::timestamptz
      and quarter < $2::timestamptz
    group by environment_id, quarter, meter_id
  ) as a
  left join cell.meters as m on m.environment_id = a.environment_id and m.id = a.meter_id
  group by a.environment_id, a.quarter, a.meter_id, m.key
  having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
  limit 1`,
);

/** The environment's sums against those of its customers. */
export async function compareQuarters(
  tx: Tx,
  { from, to }: Pick<ExpectedRange, "from" | "to">,
): Promise<WrongSum | null> {
  const { rows } = await tx.run(COMPARE_QUARTERS, [from, to]);
  return rows[0] === undefined ? null : readWrongSum(rows[0]);
}

const LIST_MONTHS = statement(
  "usage_levels.list_months",
  `
  select environment_id, (extract(epoch from month) * 1000)::bigint
  from (
    select distinct environment_id, date_trunc('month', quarter, 'UTC') as month
    from cell.usage_quarters
    union
    select distinct environment_id, month
    from cell.usage_customer_months
  ) as m
  order by month, environment_id`,
);

export type UsageMonth = { readonly environmentId: EnvironmentId; readonly month: Instant };

export async function listUsageMonths(tx: Tx): Promise<UsageMonth[]> {
  const { rows } = await tx.run(LIST_MONTHS);
  return rows.map(([environmentId, month]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    month: readInstant(month),
  }));
}

/** Some customers of one month: those numbered above `after`, up to `until`. */
export type MonthOfCustomers = {
  readonly environmentId: EnvironmentId;
  /** The first moment of the month, and that of the next, as RFC 3339. */
  readonly from: string;
  readonly to: string;
  readonly after: number;
  readonly until: number;
};

const SUM_OF_QUARTERS = `
    select environment_id, $2::timestamptz as month, customer_number, meter_id,
      sum(count) as count, sum(quantity) as quantity, sum(credits) as credits
    from cell.usage_customer_quarters as c
    where environment_id = $1
      and customer_number > $4
      and customer_number <= $5
      and quarter >= $2::timestamptz
      and quarter < $3::timestamptz
      and ${isInMonths("c")}
    group by environment_id, customer_number, meter_id`;

const COMPARE_MONTHS = statement(
  "usage_levels.compare_months",
  `
  select
    a.environment_id,
    a.customer_number,
    (extract(epoch from a.month) * 1000)::bigint,
    m.key,
    sum(a.count),
    sum(a.quantity),
    sum(a.credits)
  from (
    select environment_id, month, customer_number, meter_id, -count as count, -quantity as quantity, -credits as credits
    from cell.usage_customer_months
    where environment_id = $1
      and month = $2::timestamptz
      and customer_number > $4
      and customer_number <= $5
    union all
    ${SUM_OF_QUARTERS}
  ) as a
  left join cell.meters as m on m.environment_id = a.environment_id and m.id = a.meter_id
  group by a.environment_id, a.month, a.customer_number, a.meter_id, m.key
  having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
  limit 1`,
);

/** What customers used in a month against what they used in its quarters of an hour. */
export async function compareMonths(tx: Tx, some: MonthOfCustomers): Promise<WrongSum | null> {
  const { rows } = await tx.run(COMPARE_MONTHS, parametersOf(some));
  return rows[0] === undefined ? null : readWrongSum(rows[0]);
}

const DELETE_MONTHS = statement(
  "usage_levels.delete_months",
  `
  delete from cell.usage_customer_months
  where environment_id = $1
    and month = $2::timestamptz
    -- Not a month's end: named, so that one list of parameters serves all.
    and month < $3::timestamptz
    and customer_number > $4
    and customer_number <= $5`,
);

const INSERT_MONTHS = statement(
  "usage_levels.insert_months",
  `
  insert into cell.usage_customer_months
    (environment_id, month, customer_number, meter_id, count, quantity, credits)
  select environment_id, month, customer_number, meter_id, count, quantity, credits
  from (${SUM_OF_QUARTERS}) as s`,
);

/** The progress must be locked: nobody may add to either meanwhile. */
export async function remakeMonths(tx: Tx, some: MonthOfCustomers): Promise<Rows> {
  await tx.run(DELETE_MONTHS, parametersOf(some));
  return tx.run(INSERT_MONTHS, parametersOf(some));
}

function parametersOf({ environmentId, from, to, after, until }: MonthOfCustomers) {
  return [environmentId, from, to, after, until];
}

const FIND_CUSTOMER = statement(
  "usage_levels.find_customer",
  `
  select customer_number
  from cell.usage_customer_months
  where environment_id = $1
    and month = $2::timestamptz
    and customer_number > $3
  order by customer_number
  offset $4
  limit 1`,
);

/** The number of the customer whose sums are so many rows further on. */
export async function findCustomerOfMonth(
  tx: Tx,
  { environmentId, from, after }: Omit<MonthOfCustomers, "until">,
  rows: number,
): Promise<number> {
  const found = await tx.run(FIND_CUSTOMER, [environmentId, from, after, rows]);
  return readNullable(found.rows[0]?.[0] ?? null, readInteger) ?? Number.MAX_SAFE_INTEGER;
}
