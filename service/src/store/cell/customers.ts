import { bigints, integers, texts } from "../../postgres/binary-array.ts";
import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import { EMPTY_WALLET_STATE } from "./wallet-state.ts";

export type CustomerName = { readonly environmentId: EnvironmentId; readonly customerId: CustomerId };

export type Customer = CustomerName & { readonly number: number };

/** Has the same fields as `WalletName`. */
type NumberedCustomer = { readonly environmentId: EnvironmentId; readonly customerNumber: CustomerNumber };

// Looks up each customer separately. Without statistics, the planner would join on the environment alone and scan all its customers.
const FIND = statement(
  "customers.find",
  `
  select n.environment_id, n.customer_id, c.number
  from unnest($1::integer[], $2::text[]) as n (environment_id, customer_id)
  cross join lateral (
    select q.number
    from cell.customers as q
    where q.environment_id = n.environment_id
      and q.customer_id = n.customer_id
    limit 1
  ) as c`,
);

export async function findCustomers(tx: Tx, names: readonly CustomerName[]): Promise<Customer[]> {
  const { rows } = await tx.run(FIND, [
    integers(names.map((name) => name.environmentId)),
    texts(names.map((name) => name.customerId)),
  ]);
  return rows.map(([environmentId, customerId, number]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerId: brandAs<CustomerId>(readText(customerId)),
    number: readInteger(number),
  }));
}

const INSERT_MISSING = statement(
  "customers.insert_missing",
  `
  with inserted as (
    insert into cell.customers (environment_id, customer_id, created_at)
    select c.environment_id, c.customer_id, clock_timestamp()
    from unnest($1::integer[], $2::text[]) as c (environment_id, customer_id)
    on conflict on constraint customers_customer_id_key do nothing
    returning environment_id, number, created_at
  )
  insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
  select i.environment_id, i.number, 0, i.created_at, 0, false, '${EMPTY_WALLET_STATE}'
  from inserted as i`,
);

/**
 * Inserts each customer with an empty wallet. The customers must be sorted, because two batches that insert the same customers in
 * a different order would deadlock.
 */
export function insertMissingCustomers(tx: Tx, customers: readonly CustomerName[]): Promise<Rows> {
  return tx.run(INSERT_MISSING, [
    integers(customers.map((customer) => customer.environmentId)),
    texts(customers.map((customer) => customer.customerId)),
  ]);
}

const RESERVE_NUMBERS = statement(
  "customers.reserve_numbers",
  `
  select nextval(pg_get_serial_sequence('cell.customers', 'number'))
  from generate_series(1, $1::integer)`,
);

/** Reserves numbers for customers who may be created. Unused numbers leave harmless gaps. */
export async function reserveCustomerNumbers(tx: Tx, count: number): Promise<CustomerNumber[]> {
  const { rows } = await tx.run(RESERVE_NUMBERS, [count]);
  return rows.map(([number]) => brandAs<CustomerNumber>(readInteger(number)));
}

export type NewCustomer = CustomerName & { readonly customerNumber: CustomerNumber };

const INSERT = statement(
  "customers.insert",
  `
  insert into cell.customers (environment_id, customer_id, number, created_at)
  overriding system value
  select c.environment_id, c.customer_id, c.number, clock_timestamp()
  from unnest($1::integer[], $2::text[], $3::bigint[]) as c (environment_id, customer_id, number)`,
);

/**
 * Customers must be sorted. The statement fails if another process has already created one of these customers, and the batch then reruns.
 */
export function insertCustomers(tx: Tx, customers: readonly NewCustomer[]): Promise<Rows> {
  return tx.run(INSERT, [
    integers(customers.map(({ environmentId }) => environmentId)),
    texts(customers.map(({ customerId }) => customerId)),
    bigints(customers.map(({ customerNumber }) => customerNumber)),
  ]);
}

const FIND_ID = statement(
  "customers.find_id",
  `
  select customer_id
  from cell.customers
  where environment_id = $1
    and number = $2`,
);

/** The ID of the customer with this number, even if the customer was erased. */
export async function findCustomerId(tx: Tx, customer: NumberedCustomer): Promise<CustomerId | null> {
  const { rows } = await tx.run(FIND_ID, [customer.environmentId, customer.customerNumber]);
  return rows[0] === undefined ? null : brandAs<CustomerId>(readText(rows[0][0]));
}

/** The ID of the customer with this number. Null if the customer was erased. */
export async function findLiveCustomerId(
  tx: Tx,
  { environmentId, customerNumber }: NumberedCustomer,
): Promise<CustomerId | null> {
  return (await mapCustomerIds(tx, environmentId, [customerNumber])).get(customerNumber) ?? null;
}

export type CustomerProfile = {
  readonly name: string | null;
  readonly email: string | null;
  readonly billingReference: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
};

const UPDATE_PROFILE = statement(
  "customers.update_profile",
  `
  update cell.customers
  set
    name = $3,
    email = $4,
    billing_reference = $5,
    metadata = $6::jsonb
  where environment_id = $1
    and number = $2`,
);

export function updateCustomerProfile(
  tx: Tx,
  customer: NumberedCustomer,
  { name, email, billingReference, metadata }: CustomerProfile,
): Promise<Rows> {
  return tx.run(UPDATE_PROFILE, [
    customer.environmentId,
    customer.customerNumber,
    name,
    email,
    billingReference,
    metadata === null ? null : JSON.stringify(metadata),
  ]);
}

export function compareCustomers(a: CustomerName, b: CustomerName): number {
  if (a.environmentId !== b.environmentId) return a.environmentId - b.environmentId;
  return a.customerId < b.customerId ? -1 : a.customerId > b.customerId ? 1 : 0;
}

/** A key for maps. Unique, because an environment ID has no colon. */
export function customerKey(customer: CustomerName): string {
  return `${customer.environmentId}:${customer.customerId}`;
}

const FIND_IDS = statement(
  "customers.find_ids",
  `
  select c.environment_id, c.number, c.customer_id, c.name
  from unnest($1::integer[], $2::bigint[]) as wanted (environment_id, number)
  join cell.customers as c
    on c.environment_id = wanted.environment_id
    and c.number = wanted.number
  where c.erased_at is null`,
);

/** How lists show a customer. Both are null if the customer is unknown or was erased. */
export type ShownCustomer = { readonly customerId: CustomerId | null; readonly customerName: string | null };

export const NO_CUSTOMER: ShownCustomer = { customerId: null, customerName: null };

/** The IDs and names of these customers, without erased customers. */
export async function findCustomerIds(
  tx: Tx,
  customers: readonly NumberedCustomer[],
): Promise<(NumberedCustomer & ShownCustomer & { readonly customerId: CustomerId })[]> {
  if (customers.length === 0) return [];
  const { rows } = await tx.run(FIND_IDS, [
    integers(customers.map(({ environmentId }) => environmentId)),
    bigints(customers.map(({ customerNumber }) => customerNumber)),
  ]);
  return rows.map(([environmentId, number, customerId, name]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    customerId: brandAs<CustomerId>(readText(customerId)),
    customerName: readNullable(name, readText),
  }));
}

/** The IDs and names of customers in one environment, by customer number. */
export async function mapCustomers(
  tx: Tx,
  environmentId: EnvironmentId,
  numbers: readonly CustomerNumber[],
): Promise<Map<CustomerNumber, ShownCustomer & { readonly customerId: CustomerId }>> {
  const names = [...new Set(numbers)].map((customerNumber) => ({ environmentId, customerNumber }));
  const found = await findCustomerIds(tx, names);
  return new Map(
    found.map(({ customerNumber, customerId, customerName }) => [
      customerNumber,
      { customerId, customerName },
    ]),
  );
}

/** The IDs of customers in one environment, by customer number. */
export async function mapCustomerIds(
  tx: Tx,
  environmentId: EnvironmentId,
  numbers: readonly CustomerNumber[],
): Promise<Map<CustomerNumber, CustomerId>> {
  const customers = await mapCustomers(tx, environmentId, numbers);
  return new Map([...customers].map(([number, { customerId }]) => [number, customerId]));
}
