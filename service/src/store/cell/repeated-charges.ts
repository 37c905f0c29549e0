import { bigints } from "../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  getRow,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, FeatureId, Instant, PoolId } from "../../primitives/brand.ts";
import { MEMBER } from "./ledger.ts";
import { lowestLogId } from "./request-log.ts";

/** Maximum number of logged requests that are examined, newest first. */
const REQUESTS_MAX = 20_000;
/** Maximum number of customers in one response. */
const CUSTOMERS_MAX = 100;

const EXAMINED = describeRow({
  since: orNull(instant("x.since")),
  customerNumber: orNull(id<CustomerNumber>("f.customer_number")),
});

// Uses the request log, because the ledger has no index on an environment's latest charges. The
// log stores no quantities or reversals.
const FIND_CUSTOMERS = statement(
  "repeated_charges.find_customers",
  `
  with requests as (
    select l.id, l.recorded_at, l.endpoint, l.status, l.reason, l.is_replay, l.customer_number, l.subject
    from cell.request_log as l
    where l.environment_id = $1
      and l.id >= $2::uuid
    order by l.id desc
    limit ${REQUESTS_MAX}
  ), charges as (
    select
      r.customer_number,
      r.subject,
      r.recorded_at,
      r.recorded_at - lag(r.recorded_at) over (partition by r.customer_number, r.subject order by r.recorded_at)
        <= $3::bigint * interval '1 millisecond' as continues
    from requests as r
    where r.endpoint = 'consume'
      and r.status = 200
      and r.reason is null
      and not r.is_replay
      and r.customer_number is not null
  ), numbered as (
    select
      c.customer_number,
      c.subject,
      c.recorded_at,
      count(*) filter (where c.continues is not true)
        over (partition by c.customer_number, c.subject order by c.recorded_at) as run
    from charges as c
  ), runs as (
    select n.customer_number, count(*) as length, max(n.recorded_at) as last_at
    from numbered as n
    group by n.customer_number, n.subject, n.run
    having count(*) > 1
  ), found as (
    select
      r.customer_number,
      max(r.last_at) as last_at,
      -- Customers with a short run come first. A long run is usually normal use, but can contain a duplicate charge with an
      -- unusual quantity.
      row_number() over (order by min(r.length) <= $4::bigint desc, max(r.last_at) desc) as place
    from runs as r
    group by r.customer_number
  ), examined as (
    select greatest(
      (select case when count(*) = ${REQUESTS_MAX} then min(q.recorded_at) end from requests as q),
      (select max(o.last_at) + interval '1 millisecond' from found as o where o.place > ${CUSTOMERS_MAX})
    ) as since
  )
  select ${EXAMINED.list}
  from examined as x
  left join found as f on f.place <= ${CUSTOMERS_MAX}
  order by f.place`,
);

/**
 * Finds customers charged twice for the same feature within `withinMs`, according to the request log. A run is a series of charges, each
 * within `withinMs` of the charge before. Customers with a run of at most `runMax` charges come first. Ties: latest run first.
 * If requests or customers were left out, `examinedSince` is later than `since`, and results before `examinedSince` are incomplete.
 */
export async function findRepeating(
  tx: Tx,
  environmentId: EnvironmentId,
  {
    since,
    withinMs,
    runMax,
  }: { readonly since: Instant; readonly withinMs: number; readonly runMax: number },
): Promise<{ numbers: CustomerNumber[]; examinedSince: Instant }> {
  const parameters = [environmentId, lowestLogId(since).toString("hex"), withinMs, runMax];
  const rows = await listRows(tx, { ...FIND_CUSTOMERS, name: "" }, parameters, EXAMINED);
  return {
    numbers: rows.flatMap(({ customerNumber }) => (customerNumber === null ? [] : [customerNumber])),
    examinedSince: rows[0]?.since ?? since,
  };
}

const CHARGE = describeRow({
  customerNumber: id<CustomerNumber>("e.customer_number"),
  sequence: integer("e.sequence"),
  recordedAt: instant("e.recorded_at"),
  pool: id<PoolId>("e.pool_id"),
  feature: id<FeatureId>("e.feature_id"),
  quantity: integer("e.quantity"),
  // `-amount` would be -0 if nothing was charged.
  credits: derive(integer("e.amount"), (amount) => 0 - amount),
  overage: integer("coalesce(e.overage, 0)"),
  memberId: MEMBER,
  reversedQuantity: integer("coalesce(r.quantity, 0)"),
});

/** A charge, with the fields used to detect duplicates. */
export type RecentCharge = RowOf<typeof CHARGE>;

/** Maximum number of ledger entries read per customer, newest first. */
const ENTRIES_MAX = 500;

const LIST_RECENT = statement(
  "repeated_charges.list_recent",
  `
  select ${CHARGE.list}
  from unnest($2::bigint[]) as n (customer_number)
  cross join lateral (
    select
      l.customer_number, l.sequence, l.recorded_at, l.pool_id, l.feature_id, l.quantity, l.amount, l.overage, l.member_id,
      l.kind, l.environment_id
    from cell.ledger as l
    where l.customer_number = n.customer_number
    order by l.sequence desc
    limit ${ENTRIES_MAX}
  ) as e
  left join lateral (
    select sum(v.quantity) as quantity
    from cell.ledger as v
    where v.customer_number = e.customer_number
      and v.reverses = e.sequence
  ) as r on true
  where e.kind = 2
    and e.environment_id = $1
  order by e.customer_number, e.sequence`,
);

/** Lists the charges among each customer's latest ledger entries. Sorted by customer, oldest first. */
export function listRecentCharges(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly CustomerNumber[],
): Promise<RecentCharge[]> {
  return listRows(tx, { ...LIST_RECENT, name: "" }, [environmentId, bigints(customers)], CHARGE);
}

const READ_SINCE = describeRow({ since: orNull(instant("max(e.recorded_at)")) });

const FIND_READ_SINCE = statement(
  "repeated_charges.find_read_since",
  `
  select ${READ_SINCE.list}
  from unnest($1::bigint[]) as n (customer_number)
  cross join lateral (
    select l.recorded_at
    from cell.ledger as l
    where l.customer_number = n.customer_number
    order by l.sequence desc
    offset ${ENTRIES_MAX - 1}
    limit 1
  ) as e`,
);

/** Finds the time after which `listRecentCharges` has read all entries of these customers. Null if it reads all their entries. */
export async function findReadSince(tx: Tx, customers: readonly CustomerNumber[]): Promise<Instant | null> {
  const { since } = await getRow(tx, { ...FIND_READ_SINCE, name: "" }, [bigints(customers)], READ_SINCE);
  return since;
}
