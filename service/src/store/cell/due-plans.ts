import type { Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers, timestamps } from "../../postgres/binary-array.ts";
import { describeRow, id, listRows } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

// Finds customers without requests whose plan or hold has ended. The wallet decides what happens to them. A missing row only means that the
// next sweep or request notices it, so rows for plans that were assigned before an upgrade were not added.

/** A customer whose plan ends, or whose pending plan starts, at this time. Null if neither is known. */
export type DuePlan = WalletName & { readonly dueAt: Instant | null };

export function planDueAt({ assignment, next }: Pick<Wallet, "assignment" | "next">): Instant | null {
  const times = [assignment?.endsAt ?? null, next?.startsAt ?? null].filter((time) => time !== null);
  return times.length === 0 ? null : brandAs<Instant>(Math.min(...times));
}

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

/** Stores when the plans fall due. The wallets must be locked. */
export function writeDuePlans(tx: Tx, plans: readonly DuePlan[]): Promise<Rows> {
  return tx.run(WRITE, [
    integers(plans.map(({ environmentId }) => environmentId)),
    bigints(plans.map(({ customerNumber }) => customerNumber)),
    timestamps(plans.map(({ dueAt }) => dueAt)),
  ]);
}

const NAME = describeRow({
  environmentId: id<EnvironmentId>("d.environment_id"),
  customerNumber: id<CustomerNumber>("d.customer_number"),
});

const LIST_PLANS = statement(
  "due_plans.list",
  `
  select ${NAME.list}
  from cell.due_plans as d
  where d.due_at <= $1::timestamptz
  order by d.due_at
  limit $2`,
);

const LIST_HOLDS = statement(
  "due_plans.list_holds",
  `
  select ${NAME.list}
  from cell.open_holds as d
  where d.expires_at <= $1::timestamptz
  order by d.expires_at
  limit $2`,
);

/** Customers whose plan or hold has ended by `until`, each once. */
export async function listDue(tx: Tx, until: Instant, limit: number): Promise<WalletName[]> {
  const parameters = [formatTimestamp(until), limit];
  const plans = await listRows(tx, LIST_PLANS, parameters, NAME);
  const holds = await listRows(tx, LIST_HOLDS, parameters, NAME);
  const names = [...plans, ...holds].map(
    (name) => [`${name.environmentId} ${name.customerNumber}`, name] as const,
  );
  return [...new Map(names).values()];
}

const DROP = statement(
  "due_plans.drop",
  `
  delete from cell.due_plans as d
  using unnest($1::integer[], $2::bigint[]) as r (environment_id, customer_number)
  where d.environment_id = r.environment_id
    and d.customer_number = r.customer_number
    and d.due_at <= $3::timestamptz`,
);

/** Deletes the times that have passed. The wallets must be locked. */
export function dropDuePlans(tx: Tx, names: readonly WalletName[], until: Instant): Promise<Rows> {
  return tx.run(DROP, [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
    formatTimestamp(until),
  ]);
}
