import { bigints, integers } from "../../postgres/binary-array.ts";
import { readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import type { WalletName } from "./wallets.ts";

const FIND_IDS = statement(
  "customers.find_ids",
  `
  select c.environment_id, c.number, c.customer_id
  from unnest($1::integer[], $2::bigint[]) as wanted (environment_id, number)
  join cell.customers as c
    on c.environment_id = wanted.environment_id
    and c.number = wanted.number
  where c.erased_at is null`,
);

/** What the caller calls these customers; of one who was erased nobody knows. */
export async function findCustomerIds(
  tx: Tx,
  customers: readonly WalletName[],
): Promise<(WalletName & { readonly customerId: CustomerId })[]> {
  if (customers.length === 0) return [];
  const { rows } = await tx.run(FIND_IDS, [
    integers(customers.map(({ environmentId }) => environmentId)),
    bigints(customers.map(({ customerNumber }) => customerNumber)),
  ]);
  return rows.map(([environmentId, number, customerId]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    customerId: brandAs<CustomerId>(readText(customerId)),
  }));
}

/** The same for customers of one environment, by their number. */
export async function mapCustomerIds(
  tx: Tx,
  environmentId: EnvironmentId,
  numbers: readonly CustomerNumber[],
): Promise<Map<CustomerNumber, CustomerId>> {
  const names = [...new Set(numbers)].map((customerNumber) => ({ environmentId, customerNumber }));
  const found = await findCustomerIds(tx, names);
  return new Map(found.map(({ customerNumber, customerId }) => [customerNumber, customerId]));
}
