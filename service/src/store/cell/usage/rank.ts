import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import {
  METERS_OF_SCOPE,
  type Measure,
  readUsed,
  scopeParameters,
  type UsageScope,
  type Used,
} from "./chart.ts";

export type RankedCustomer = Used & { readonly customerNumber: CustomerNumber };

// Months of UTC by their sums, what is before them and what is not in them by quarters of an hour.
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
      and s.quarter >= $10::timestamptz
      and s.quarter < $7::timestamptz
      and (s.quarter >= $11::timestamptz or s.customer_number >= $12)
  ) as u
  group by u.customer_number
  order by
    sum(case $13 when 'count' then u.count when 'quantity' then u.quantity else u.credits end) desc,
    u.customer_number
  limit $14`,
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

/** Which months of a range are read by their sums, and what comes after. */
export type RankedMonths = {
  readonly from: Instant;
  readonly to: Instant;
  /** What the sums of these months do not hold: all since a moment, */
  readonly rest: Instant;
  /** but for what some customers, those below this number, used before another. */
  readonly below: number;
  readonly belowTo: Instant;
};

export type RankOptions = {
  readonly by: Measure;
  readonly limit: number;
  readonly months: RankedMonths;
};

/** Those with the most first, in a transaction. */
export async function rankCustomers(
  tx: Tx,
  scope: UsageScope,
  { by, limit, months }: RankOptions,
): Promise<RankedCustomer[]> {
  const times = [scope.from, scope.to, months.from, months.to, months.rest, months.belowTo];
  const parameters = [...scopeParameters(scope), ...times.map(formatTimestamp), months.below, by, limit];
  await tx.run(SETTINGS);
  const { rows } = await tx.run({ ...RANK, name: "" }, parameters);
  return rows.map(([number, ...used]) => ({
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    ...readUsed(used),
  }));
}
