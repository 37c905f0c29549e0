import { bigints, texts } from "../../postgres/binary-array.ts";
import { readText } from "../../postgres/column.ts";
import { describeRow, id, listRows, orNull, text } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import type { CustomerProfile } from "./customers.ts";
import { EMPTY_WALLET_STATE } from "./wallet-state.ts";

/** The part of a profile that an import file contains. */
export type ImportedProfile = Omit<CustomerProfile, "metadata">;

const INSERT_CUSTOMERS = statement(
  "imports.insert_customers",
  `
  with inserted as (
    insert into cell.customers (environment_id, customer_id, name, email, billing_reference, created_at)
    select $1, c.customer_id, c.name, c.email, c.billing_reference, clock_timestamp()
    from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as c (customer_id, name, email, billing_reference)
    on conflict on constraint customers_customer_id_key do nothing
    returning environment_id, number, customer_id, created_at
  ), opened as (
    insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
    select i.environment_id, i.number, 0, i.created_at, 0, false, '${EMPTY_WALLET_STATE}'
    from inserted as i
  )
  select i.customer_id
  from inserted as i`,
);

/**
 * Inserts each customer with a profile and an empty wallet. Returns the customers that this call created. Customers must be sorted, because
 * two imports that insert the same customers in a different order would deadlock.
 */
export async function insertImportedCustomers(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly { readonly customerId: CustomerId; readonly profile: ImportedProfile }[],
): Promise<Set<CustomerId>> {
  const { rows } = await tx.run(INSERT_CUSTOMERS, [
    environmentId,
    texts(customers.map(({ customerId }) => customerId)),
    texts(customers.map(({ profile }) => profile.name)),
    texts(customers.map(({ profile }) => profile.email)),
    texts(customers.map(({ profile }) => profile.billingReference)),
  ]);
  return new Set(rows.map(([customerId]) => brandAs<CustomerId>(readText(customerId))));
}

const PROFILE = describeRow({
  number: id<CustomerNumber>("n.number"),
  profile: describeRow({
    name: orNull(text("p.name")),
    email: orNull(text("p.email")),
    billingReference: orNull(text("p.billing_reference")),
  }),
});

const FIND_PROFILES = statement(
  "imports.find_profiles",
  `
  select ${PROFILE.list}
  from unnest($2::bigint[]) as n (number)
  cross join lateral (
    select c.name, c.email, c.billing_reference
    from cell.customers as c
    where c.environment_id = $1
      and c.number = n.number
    limit 1
  ) as p`,
);

export async function findImportedProfiles(
  tx: Tx,
  environmentId: EnvironmentId,
  numbers: readonly CustomerNumber[],
): Promise<Map<CustomerNumber, ImportedProfile>> {
  const found = await listRows(tx, FIND_PROFILES, [environmentId, bigints(numbers)], PROFILE);
  return new Map(found.map(({ number, profile }) => [number, profile]));
}

const UPDATE_PROFILES = statement(
  "imports.update_profiles",
  `
  update cell.customers as c
  set
    name = n.name,
    email = n.email,
    billing_reference = n.billing_reference
  from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as n (number, name, email, billing_reference)
  where c.environment_id = $1
    and c.number = n.number`,
);

/** Updates the profiles of customers. The transaction must hold the locks on their wallets. */
export function updateImportedProfiles(
  tx: Tx,
  environmentId: EnvironmentId,
  customers: readonly { readonly customerNumber: CustomerNumber; readonly profile: ImportedProfile }[],
): Promise<Rows> {
  return tx.run(UPDATE_PROFILES, [
    environmentId,
    bigints(customers.map(({ customerNumber }) => customerNumber)),
    texts(customers.map(({ profile }) => profile.name)),
    texts(customers.map(({ profile }) => profile.email)),
    texts(customers.map(({ profile }) => profile.billingReference)),
  ]);
}
