import { readInteger, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { reasonOf } from "../denials.ts";
import { readUsed, SUMMED, type Used } from "./chart.ts";
import { daysOf, usedOn } from "./customer-days.ts";
import { type MeterKind, meterKindOf } from "./rows.ts";

export type UsageTotal = Used & {
  readonly kind: MeterKind;
  /** Set for charges and overage. */
  readonly pool: PoolId | null;
  /** Set for denials. */
  readonly reason: ReturnType<typeof reasonOf> | null;
};

const totals = (name: string, used: string) =>
  statement(
    name,
    `
  with of_meters as materialized (${used}
  )
  -- Meters last: the planner has no statistics of that table, and may read all roll-ups once for each meter.
  select m.kind, m.pool_id, m.reason, sum(u.count), sum(u.quantity), sum(u.credits)
  from of_meters as u
  join cell.meters as m on m.environment_id = $1 and m.id = u.meter_id
  group by m.kind, m.pool_id, m.reason
  order by m.kind, m.pool_id, m.reason`,
  );

const OF_ALL = totals(
  "usage_totals.of_all",
  `
    select s.meter_id, ${SUMMED}
    from cell.usage_buckets as s
    where s.environment_id = $1
      and s.bucket >= $2::timestamptz
      and s.bucket < $3::timestamptz
    group by s.meter_id`,
);

const OF_CUSTOMER = totals(
  "usage_totals.of_customer",
  `
    select c.meter_id, sum(u.count) as count, sum(u.quantity) as quantity, sum(u.credits) as credits
    from (${daysOf("$2", "$3")}) as d
    cross join (select $4::bigint) as n (customer_number)
    ${usedOn()}
    group by c.meter_id`,
);

/** Totals by kind, with charges and overage by pool and denials by reason. */
export async function listUsageTotals(
  tx: Tx,
  environmentId: EnvironmentId,
  { from, to, customer }: { from: Instant; to: Instant; customer: CustomerNumber | null },
): Promise<UsageTotal[]> {
  const range = [environmentId, formatTimestamp(from), formatTimestamp(to)];
  const { rows } =
    customer === null
      ? await tx.run({ ...OF_ALL, name: "" }, range)
      : await tx.run({ ...OF_CUSTOMER, name: "" }, [...range, customer]);
  return rows.map(([kind, pool, reason, ...used]) => ({
    kind: meterKindOf(readInteger(kind)),
    pool: readNullable(pool, (id) => brandAs<PoolId>(readInteger(id))),
    reason: readNullable(reason, (number) => reasonOf(readInteger(number))),
    ...readUsed(used),
  }));
}
