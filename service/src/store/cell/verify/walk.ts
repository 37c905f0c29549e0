import { readBoolean, readInteger } from "../../../postgres/column.ts";
import { type Statement, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId } from "../../../primitives/brand.ts";
import type { WalletName } from "../wallets.ts";

// Rows of customers who have no wallet: a walk over the wallets never meets them.

/** A customer who has rows in a table. */
export type Owner = WalletName & { readonly hasWallet: boolean };

const OWNERS = `
  select o.environment_id, o.customer_number, w.customer_number is not null
  from owners as o
  left join cell.wallets as w on w.environment_id = o.environment_id and w.customer_number = o.customer_number`;

const CUSTOMERS = statement(
  "verify.list_customers",
  `
  with owners as (
    select environment_id, number as customer_number
    from cell.customers
    where (environment_id, number) > ($1, $2)
    order by environment_id, number
    limit $3
  )
  ${OWNERS}
  order by o.environment_id, o.customer_number`,
);

const GRANTS = statement(
  "verify.list_grant_owners",
  `
  with owners as (
    select distinct g.environment_id, g.customer_number
    from (
      select environment_id, customer_number
      from cell.grants
      where (environment_id, customer_number) > ($1, $2)
      order by environment_id, customer_number
      limit $3
    ) as g
  )
  ${OWNERS}
  order by o.environment_id, o.customer_number`,
);

// By customer alone, as the table's key is; the environment is that of the customer's first entry.
const LEDGER = statement(
  "verify.list_ledger_owners",
  `
  with owners as (
    select first.environment_id, n.customer_number
    from (
      select distinct e.customer_number
      from (
        select customer_number
        from cell.ledger
        where customer_number > $1
        order by customer_number
        limit $2
      ) as e
    ) as n
    cross join lateral (
      select environment_id
      from cell.ledger
      where customer_number = n.customer_number
      limit 1
    ) as first
  )
  ${OWNERS}
  order by o.customer_number`,
);

/** The tables in which a customer has rows. */
export const WALKED_TABLES = ["customers", "ledger", "grants"] as const;
export type WalkedTable = (typeof WALKED_TABLES)[number];

const WALKS = { customers: CUSTOMERS, ledger: LEDGER, grants: GRANTS } as const satisfies Record<
  WalkedTable,
  Statement
>;

/** The customers of a table's next rows. Only its index is read, and of a customer with very many rows not all of it. */
export async function listOwners(
  tx: Tx,
  table: WalkedTable,
  after: WalletName,
  rowsMax: number,
): Promise<Owner[]> {
  const { environmentId, customerNumber } = after;
  const key = table === "ledger" ? [customerNumber] : [environmentId, customerNumber];
  const { rows } = await tx.run(WALKS[table], [...key, rowsMax]);
  return rows.map(([environment, number, hasWallet]) => ({
    ...readName(environment, number),
    hasWallet: readBoolean(hasWallet),
  }));
}

export function readName(environmentId: unknown, customerNumber: unknown): WalletName {
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(customerNumber)),
  };
}

/** Where a walk begins. */
export const BEFORE_ALL: WalletName = {
  environmentId: brandAs<EnvironmentId>(-(2 ** 31)),
  customerNumber: brandAs<CustomerNumber>(Number.MIN_SAFE_INTEGER),
};
