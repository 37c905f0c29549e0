import { readInteger, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, PlanId } from "../../primitives/brand.ts";

// Where in a wallet's state the assignment stands, and in it the plan, its end and whether it is a mere default, is said
// in wallet-state.ts. Whoever has no plan that somebody assigned, or whose assignment has ended, has the default one.
const COUNT = statement(
  "plan_customers.count",
  `
  select
    count(*),
    max(s.customer_number),
    count(*) filter (
      where case
        when (s.assignment ->> 5) = '0'
          and coalesce((s.assignment ->> 4)::bigint > extract(epoch from now()) * 1000, true)
        then (s.assignment ->> 1)::integer
        else (
          select c.default_plan_id
          from cell.catalogs as c
          where c.environment_id = $1
        )
      end = $2
    )
  from (
    select w.customer_number, w.state::jsonb -> 3 as assignment
    from cell.customers as c
    join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
    where c.environment_id = $1
      and c.number > $3
      and c.erased_at is null
    order by c.number
    limit $4
  ) as s`,
);

export type CountedCustomers = {
  readonly scanned: number;
  readonly onPlan: number;
  /** The last one looked at; null when none was left. */
  readonly last: number | null;
};

/** How many of the next `limit` customers after the one with number `after` are on a plan, by choice or by default. */
export async function countPlanCustomers(
  tx: Tx,
  { environmentId, plan }: { readonly environmentId: EnvironmentId; readonly plan: PlanId },
  page: { readonly after: number; readonly limit: number },
): Promise<CountedCustomers> {
  // Planned anew each time: a plan for any limit would read and sort all customers for each page of them.
  const { rows } = await tx.run({ ...COUNT, name: "" }, [environmentId, plan, page.after, page.limit]);
  const [scanned, last, onPlan] = rows[0] ?? [];
  return {
    scanned: readInteger(scanned),
    last: readNullable(last, readInteger),
    onPlan: readInteger(onPlan),
  };
}
