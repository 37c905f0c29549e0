import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import {
  METERS_OF_SCOPE,
  type Measure,
  readUsed,
  scopeParameters,
  type UsageScope,
  type Used,
} from "./chart.ts";

export type RankedCustomer = Used & { readonly customerNumber: CustomerNumber };

// Whole months of UTC by their sums, what is before and after them by quarters of an hour.
const RANK = statement(
  "usage_rank.customers",
  `
  select u.customer_number, sum(u.count), sum(u.quantity), sum(u.credits)
  from (
    select s.customer_number, s.count, s.quantity, s.credits
    from cell.usage_customer_months as s
    ${METERS_OF_SCOPE}
      and s.month >= $8::timestamptz
      and s.month < $9::timestamptz
    union all
    select s.customer_number, s.count, s.quantity, s.credits
    from cell.usage_customer_quarters as s
    ${METERS_OF_SCOPE}
      and s.quarter >= $6::timestamptz
      and s.quarter < least($7::timestamptz, $8::timestamptz)
    union all
    select s.customer_number, s.count, s.quantity, s.credits
    from cell.usage_customer_quarters as s
    ${METERS_OF_SCOPE}
      and s.quarter >= $9::timestamptz
      and s.quarter < $7::timestamptz
  ) as u
  group by u.customer_number
  order by
    sum(case $10 when 'count' then u.count when 'quantity' then u.quantity else u.credits end) desc,
    u.customer_number
  limit $11`,
);

// A range is a part of the sums however long it is, and they lie in the order of time: the planner would rather read all of them,
// and group customers on disk.
const SETTINGS = statement(
  "usage_rank.settings",
  `
  select
    set_config('enable_seqscan', 'off', true),
    set_config('work_mem', '64MB', true),
    set_config('jit', 'off', true)`,
);

export type RankOptions = {
  readonly by: Measure;
  readonly limit: number;
  /** Of the range: from the first month that is whole up to the first that is not. */
  readonly months: { readonly from: Instant; readonly to: Instant };
};

/** Those with the most first, in a transaction. */
export async function rankCustomers(
  tx: Tx,
  scope: UsageScope,
  { by, limit, months }: RankOptions,
): Promise<RankedCustomer[]> {
  const times = [scope.from, scope.to, months.from, months.to].map(formatTimestamp);
  const parameters = [...scopeParameters(scope), ...times, by, limit];
  await tx.run(SETTINGS);
  const { rows } = await tx.run({ ...RANK, name: "" }, parameters);
  return rows.map(([number, ...used]) => ({
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    ...readUsed(used),
  }));
}
