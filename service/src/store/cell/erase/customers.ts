import { readInstant, readInteger } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../primitives/brand.ts";
import type { CustomerName } from "../customers.ts";
import type { WalletName } from "../wallets.ts";

// A customer who is being erased has, in place of the caller's id, a hash of it, so that who asks again finds what is left to do.
// Once all is done, nothing stays of it.
const ERASING = "'erasing:' || encode(sha256(convert_to($2, 'UTF8')), 'hex') || ':'";

const HIDE = statement(
  "erase.hide_customer",
  `
  update cell.customers
  set
    customer_id = ${ERASING} || gen_random_uuid(),
    name = null,
    email = null,
    billing_reference = null,
    metadata = null,
    erased_at = clock_timestamp()
  where environment_id = $1
    and customer_id = $2
    and number = $3`,
);

/** From now on the id is free for somebody else, and whoever looks for it finds nobody. */
export function hideCustomer(tx: Tx, customer: CustomerName & WalletName): Promise<Rows> {
  return tx.run(HIDE, [customer.environmentId, customer.customerId, customer.customerNumber]);
}

const LIST_HIDDEN = statement(
  "erase.list_hidden_customers",
  `
  select c.number, (extract(epoch from c.created_at) * 1000)::bigint
  from cell.customers as c
  where c.environment_id = $1
    and c.customer_id >= ${ERASING}
    and c.customer_id < ${ERASING} || 'g'
    and c.erased_at is not null
  order by c.number`,
);

export type DoomedCustomer = WalletName & { readonly createdAt: Instant };

/** Those of this id whose erasure was begun and not finished. */
export async function listHiddenCustomers(
  tx: Tx,
  { environmentId, customerId }: CustomerName,
): Promise<DoomedCustomer[]> {
  const { rows } = await tx.run(LIST_HIDDEN, [environmentId, customerId]);
  return rows.map(([number, createdAt]) => ({
    environmentId,
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    createdAt: readInstant(createdAt),
  }));
}

const READ_CREATED_AT = statement(
  "erase.read_created_at",
  `
  select (extract(epoch from c.created_at) * 1000)::bigint
  from cell.customers as c
  where c.environment_id = $1
    and c.number = $2`,
);

export async function readCreatedAt(tx: Tx, customer: WalletName): Promise<Instant> {
  const { rows } = await tx.run(READ_CREATED_AT, [customer.environmentId, customer.customerNumber]);
  return readInstant(rows[0]?.[0]);
}

const FORGET = statement(
  "erase.forget_customer",
  `
  update cell.customers
  set
    customer_id = 'erased:' || gen_random_uuid(),
    name = null,
    email = null,
    billing_reference = null,
    metadata = null
  where environment_id = $1
    and number = $2
    and erased_at is not null`,
);

/** The number stays, and leads to nobody: not even by what was written on the row while it was hidden. */
export function forgetCustomer(tx: Tx, customer: WalletName): Promise<Rows> {
  return tx.run(FORGET, [customer.environmentId, customer.customerNumber]);
}

const ERASE_GRANTS = statement(
  "erase.grants",
  `
  update cell.grants
  set
    note = null,
    reference = case
      when reference like 'erased:%' then reference
      else cell.erased_reference(reference)
    end
  where environment_id = $1
    and customer_number = $2
    and (note is not null or reference not like 'erased:%')`,
);

/** What people wrote on a customer's grants. A reference is taken for ever, so its hash stays. */
export function eraseWordsOfGrants(tx: Tx, customer: WalletName): Promise<Rows> {
  return tx.run(ERASE_GRANTS, [customer.environmentId, customer.customerNumber]);
}

const ERASE_LOG = statement(
  "erase.request_log",
  `
  delete from cell.request_log
  where environment_id = $1
    and id in (
      select l.id
      from cell.request_log as l
      where l.environment_id = $1
        and l.customer_number = $2
      limit $3
    )`,
);

/** Returns how many rows of the request log went: fewer than `rowsMax` when none is left. */
export async function eraseRequestLog(tx: Tx, customer: WalletName, rowsMax: number): Promise<number> {
  const { environmentId, customerNumber } = customer;
  const { rowCount } = await tx.run(ERASE_LOG, [environmentId, customerNumber, rowsMax]);
  return rowCount;
}
