import { bigints } from "../../../postgres/binary-array.ts";
import { readBigInt, readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { COMPARED_MAX } from "../customer-numbers.ts";
import { REASON_NUMBER } from "../denials.ts";
import { daysOf, usedOn, utcDate } from "./customer-days.ts";
import { METER_KIND_NUMBER } from "./rows.ts";

/** Charges and overage. */
const METERS = `
      select m.id, m.pool_id
      from cell.meters as m
      where m.environment_id = $1
        and m.kind in (${METER_KIND_NUMBER.charges}, ${METER_KIND_NUMBER.overage})`;

/** Up to this many customers, the usage since `since` is read. With more customers, only the usage since `active`. */
const FEW_MAX = 10_000;

// The stored balance is the sum of all pools. With one pool, it shows who runs out first. With several, the customers with the most
// usage come first.
const FIND_SOONEST = statement(
  "recent_use.find_soonest",
  `
  with compared as materialized (
    select w.customer_number, w.balance
    from cell.wallets as w
    where w.environment_id = $1
    order by w.customer_number desc
    limit ${COMPARED_MAX}
  ), used as materialized (
    select c.customer_number, sum(c.credits::double precision) as credits
    from cell.usage_customer_days as c
    where c.environment_id = $1
      and c.day >= case
        when (select count(*) from compared) <= ${FEW_MAX} then ${utcDate("$2::timestamptz")}
        else ${utcDate("$5::timestamptz")}
      end
      and c.customer_number >= (select min(w.customer_number) from compared as w)
      and c.meter_id + 0 = any (array(select m.id from (${METERS}) as m))
    group by c.customer_number
  )
  select u.customer_number
  from used as u
  join compared as w on w.customer_number = u.customer_number
  where u.credits > 0
    and w.balance > 0
  order by
    case when $3::boolean then -u.credits else w.balance / u.credits end,
    u.customer_number
  limit $4`,
);

// Without statistics, the planner would read the whole table, group customers on disk, or compare each customer with all others.
const SETTINGS = statement(
  "recent_use.settings",
  `
  select
    set_config('enable_seqscan', 'off', true),
    set_config('enable_nestloop', $1::text, true),
    set_config('max_parallel_workers_per_gather', '0', true),
    set_config('work_mem', '64MB', true),
    set_config('jit', 'off', true)`,
);

/**
 * Customers with charges on or after the UTC day of `since`, or of `active` if there are many customers. Customers whose stored
 * balance lasts shortest at that rate come first.
 */
export async function findSoonest(
  tx: Tx,
  environmentId: EnvironmentId,
  {
    since,
    active,
    hasPools,
    limit,
  }: {
    readonly since: Instant;
    readonly active: Instant;
    readonly hasPools: boolean;
    readonly limit: number;
  },
): Promise<CustomerNumber[]> {
  await tx.run(SETTINGS, ["off"]);
  const parameters = [environmentId, formatTimestamp(since), hasPools, limit, formatTimestamp(active)];
  const { rows } = await tx.run({ ...FIND_SOONEST, name: "" }, parameters);
  // The next statements look up each customer.
  await tx.run(SETTINGS, ["on"]);
  return rows.map(([number]) => brandAs<CustomerNumber>(readInteger(number)));
}

// Denials have no credits, so customers with the most charges and denials come first.
const FIND_EMPTY = statement(
  "recent_use.find_empty",
  `
  with compared as materialized (
    select w.customer_number, w.balance
    from cell.wallets as w
    where w.environment_id = $1
    order by w.customer_number desc
    limit ${COMPARED_MAX}
  )
  select c.customer_number
  from cell.usage_customer_days as c
  join compared as w on w.customer_number = c.customer_number
  where c.environment_id = $1
    and c.day >= case
      when (select count(*) from compared) <= ${FEW_MAX} then ${utcDate("$2::timestamptz")}
      else ${utcDate("$3::timestamptz")}
    end
    and c.meter_id + 0 = any (
      array(
        select m.id
        from cell.meters as m
        where m.environment_id = $1
          and (m.kind in (${METER_KIND_NUMBER.charges}, ${METER_KIND_NUMBER.overage}) or m.reason = ${REASON_NUMBER.insufficient_credits})
      )
    )
    and w.balance = 0
  group by c.customer_number
  order by sum(c.count) desc, c.customer_number
  limit $4`,
);

/** Customers without credits who had charges or `insufficient_credits` denials on the days that `findSoonest` reads. */
export async function findEmpty(
  tx: Tx,
  environmentId: EnvironmentId,
  { since, active, limit }: { readonly since: Instant; readonly active: Instant; readonly limit: number },
): Promise<CustomerNumber[]> {
  await tx.run(SETTINGS, ["off"]);
  const parameters = [environmentId, formatTimestamp(since), formatTimestamp(active), limit];
  const { rows } = await tx.run({ ...FIND_EMPTY, name: "" }, parameters);
  await tx.run(SETTINGS, ["on"]);
  return rows.map(([number]) => brandAs<CustomerNumber>(readInteger(number)));
}

const READ = statement(
  "recent_use.read",
  `
  with of_meters as materialized (
    select n.customer_number, c.meter_id, sum(u.credits) as credits
    from (${daysOf("$2", "$3")}) as d
    cross join unnest($4::bigint[]) as n (customer_number)
    ${usedOn()}
    group by n.customer_number, c.meter_id
  )
  select u.customer_number, m.pool_id, sum(u.credits)
  from of_meters as u
  join (${METERS}) as m on m.id = u.meter_id
  group by u.customer_number, m.pool_id`,
);

/** Credits charged in a range of whole 15-minute buckets, minus reversals, by customer and pool. */
export async function readRecentUse(
  tx: Tx,
  environmentId: EnvironmentId,
  { from, to }: { readonly from: Instant; readonly to: Instant },
  customers: readonly CustomerNumber[],
): Promise<Map<CustomerNumber, Map<PoolId, bigint>>> {
  const used = new Map<CustomerNumber, Map<PoolId, bigint>>();
  if (customers.length === 0) return used;
  const range = [formatTimestamp(from), formatTimestamp(to)];
  const { rows } = await tx.run({ ...READ, name: "" }, [environmentId, ...range, bigints(customers)]);
  for (const [customer, pool, credits] of rows) {
    const number = brandAs<CustomerNumber>(readInteger(customer));
    const pools = used.get(number) ?? new Map<PoolId, bigint>();
    pools.set(brandAs<PoolId>(readInteger(pool)), readBigInt(credits));
    used.set(number, pools);
  }
  return used;
}
