import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import {
  IS_METER,
  METERS_OF_SCOPE,
  type Measure,
  readUsed,
  scopeParameters,
  type UsageScope,
  type Used,
} from "./chart.ts";
import { daysOf, IS_WHOLE, usedOn, utcDate } from "./customer-days.ts";

export type RankedCustomer = Used & { readonly customerNumber: CustomerNumber };

const FIRST_WHOLE_DAY = utcDate("($6::timestamptz + interval '23 hours 45 minutes')");
const FIRST_DAY_AFTER = utcDate("$7::timestamptz");

/** Ranks by one measure, and reads the other measures only for the top customers. Reading all three takes 1.5 times as long. */
const rank = (by: Measure, bucketsBy: string) =>
  statement(
    `usage_rank.customers_by_${by}`,
    `
  with days as materialized (${daysOf("$6", "$7")}
  ), ranked as materialized (
    select u.customer_number, sum(u.used) as used
    from (
      select s.customer_number, s.${by} as used
      from cell.usage_customer_days as s
      ${METERS_OF_SCOPE}
        and s.day >= ${FIRST_WHOLE_DAY}
        and s.day < ${FIRST_DAY_AFTER}
      union all
      select s.customer_number, s.used
      from days as d
      cross join lateral (
        select
          s.customer_number,
          generate_subscripts(s.${bucketsBy}, 1) as slot,
          unnest(s.${bucketsBy}) as used
        from cell.usage_customer_days as s
        ${METERS_OF_SCOPE}
          and s.day = d.day
        offset 0
      ) as s
      where not (${IS_WHOLE})
        and s.slot >= d.slot_from
        and s.slot < d.slot_to
        and s.used is not null
    ) as u
    group by u.customer_number
    order by used desc, u.customer_number
    limit $8
  )
  select n.customer_number, sum(u.count), sum(u.quantity), sum(u.credits)
  from ranked as n
  cross join days as d
  ${usedOn({ isMeter: IS_METER("c.meter_id") })}
  group by n.customer_number, n.used
  order by n.used desc, n.customer_number`,
  );

const RANK = {
  count: rank("count", "bucket_counts"),
  quantity: rank("quantity", "bucket_quantities"),
  credits: rank("credits", "bucket_credits"),
} as const;

// By default, the planner scans the whole table and groups customers on disk. The table is in time order, so an index reads
// less, even for a long range.
const SETTINGS = statement(
  "usage_rank.settings",
  `
  select
    set_config('enable_seqscan', 'off', true),
    set_config('work_mem', '64MB', true),
    set_config('jit', 'off', true)`,
);

/** Lists the customers with the most usage, largest first. Must run in a transaction. */
export async function rankCustomers(
  tx: Tx,
  scope: UsageScope,
  { by, limit }: { readonly by: Measure; readonly limit: number },
): Promise<RankedCustomer[]> {
  await tx.run(SETTINGS);
  const range = [formatTimestamp(scope.from), formatTimestamp(scope.to)];
  const { rows } = await tx.run({ ...RANK[by], name: "" }, [...scopeParameters(scope), ...range, limit]);
  return rows.map(([number, ...used]) => ({
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    ...readUsed(used),
  }));
}
