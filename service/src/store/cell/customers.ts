import { integers, texts } from "../../postgres/binary-array.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerId, EnvironmentId } from "../../words/brand.ts";

export type CustomerName = { readonly environmentId: EnvironmentId; readonly customerId: CustomerId };

const INSERT_MISSING = statement(
  "customers.insert_missing",
  `
  insert into cell.customers (environment_id, customer_id, created_at)
  select c.environment_id, c.customer_id, clock_timestamp()
  from unnest($1::integer[], $2::text[]) as c (environment_id, customer_id)
  on conflict on constraint customers_customer_id_key do nothing`,
);

/** Customers must come sorted: two batches that insert the same ones in another order would wait for each other. */
export async function insertMissingCustomers(tx: Tx, customers: readonly CustomerName[]): Promise<void> {
  await tx.run(INSERT_MISSING, [
    integers(customers.map((customer) => customer.environmentId)),
    texts(customers.map((customer) => customer.customerId)),
  ]);
}

export function compareCustomers(a: CustomerName, b: CustomerName): number {
  if (a.environmentId !== b.environmentId) return a.environmentId - b.environmentId;
  return a.customerId < b.customerId ? -1 : a.customerId > b.customerId ? 1 : 0;
}
