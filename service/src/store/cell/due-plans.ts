import { bigints, integers, timestamps } from "../../postgres/binary-array.ts";
import { describeRow, id, instant, listRows, type RowOf } from "../../postgres/row.ts";
import { type Rows, type Statement, statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

// Finds customers without requests whose plan or hold has ended, or whose request for a top-up is repeated. The wallet decides what happens
// to them. A missing row only means that the next request notices it, or a sweep if the customer has credits. So rows for plans assigned
// before an upgrade were not added. The table's name mentions only plans, because migrations never rename tables.

/** A customer for whom something is due at this time (`entitlement/due-at.ts`). Null if nothing is known. */
export type DuePlan = WalletName & { readonly dueAt: Instant | null };

const WRITE = statement(
  "due_plans.write",
  `
  with rows as (
    select environment_id, customer_number, due_at
    from unnest($1::integer[], $2::bigint[], $3::timestamptz[]) as r (environment_id, customer_number, due_at)
  ), ended as (
    delete from cell.due_plans as d
    using rows as r
    where d.environment_id = r.environment_id
      and d.customer_number = r.customer_number
      and r.due_at is null
  )
  insert into cell.due_plans (environment_id, customer_number, due_at)
  select r.environment_id, r.customer_number, r.due_at
  from rows as r
  where r.due_at is not null
  on conflict on constraint due_plans_pkey do update set due_at = excluded.due_at`,
);

/** Stores when the customers fall due. The wallets must be locked. */
export function writeDuePlans(tx: Tx, plans: readonly DuePlan[]): Promise<Rows> {
  return tx.run(WRITE, [
    integers(plans.map(({ environmentId }) => environmentId)),
    bigints(plans.map(({ customerNumber }) => customerNumber)),
    timestamps(plans.map(({ dueAt }) => dueAt)),
  ]);
}

const DUE = describeRow({
  environmentId: id<EnvironmentId>("d.environment_id"),
  customerNumber: id<CustomerNumber>("d.customer_number"),
  dueAt: instant("d.due_at"),
});

/** A customer whose plan, top-up or hold falls due at this time. */
export type Due = RowOf<typeof DUE>;

const listStatement = (name: string, rows: string) =>
  statement(
    name,
    `
  select ${DUE.list}
  from ${rows} as d
  where d.due_at <= $1::timestamptz
    and (d.due_at, d.environment_id, d.customer_number) > ($2::timestamptz, $3::integer, $4::bigint)
  order by d.due_at, d.environment_id, d.customer_number
  limit $5`,
  );

/** Customers whose plan or top-up falls due, and customers with a hold that expires. */
export const DUE_LISTS: readonly Statement[] = [
  listStatement("due_plans.list", "cell.due_plans"),
  listStatement(
    "due_plans.list_holds",
    "(select distinct environment_id, customer_number, expires_at as due_at from cell.open_holds)",
  ),
];

/** The next customers of the list that fell due by `until`, after this position, in order. */
export function listDue(
  tx: Tx,
  list: Statement,
  { until, after, limit }: { readonly until: Instant; readonly after: Due; readonly limit: number },
): Promise<Due[]> {
  const { environmentId, customerNumber, dueAt } = after;
  const position = [formatTimestamp(dueAt), environmentId, customerNumber];
  return listRows(tx, list, [formatTimestamp(until), ...position, limit], DUE);
}
