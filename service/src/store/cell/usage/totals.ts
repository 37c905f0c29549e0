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
import { quartersSince, slotsOf, slottedMonths } from "./customer-quarters.ts";
import { type MeterKind, meterKindOf } from "./rows.ts";

export type UsageTotal = Used & {
  readonly kind: MeterKind;
  /** Of charges. */
  readonly pool: PoolId | null;
  /** Of denials. */
  readonly reason: ReturnType<typeof reasonOf> | null;
};

const totals = (name: string, used: string) =>
  statement(
    name,
    `
  with of_meters as materialized (${used}
  )
  -- Meters last: a planner knows nothing about that table, and joined to all sums it may read them once for each.
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
    from cell.usage_quarters as s
    where s.environment_id = $1
      and s.quarter >= $2::timestamptz
      and s.quarter < $3::timestamptz
    group by s.meter_id`,
);

const OF_CUSTOMER = totals(
  "usage_totals.of_customer",
  `
    select s.meter_id, ${SUMMED}
    from (
      select s.meter_id, s.count, s.quantity, s.credits
      from ${slottedMonths("$2", "$3")} as m
      cross join lateral (${slotsOf("m.month", "$4::bigint")}) as s
      where s.slot >= m.slot_from
        and s.slot < m.slot_to
      union all
      select q.meter_id, q.count, q.quantity, q.credits
      from (${quartersSince("$2", "$3", "array[$4::bigint]")}) as q
    ) as s
    group by s.meter_id`,
);

/** By kind; charges by pool, denials by reason. */
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
