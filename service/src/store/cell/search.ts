import { integers } from "../../postgres/binary-array.ts";
import { describeRow, id, listRows, orNull, type RowOf, text } from "../../postgres/row.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId } from "../../primitives/brand.ts";

/** The environments to search, and the maximum number of results of each kind. */
export type SearchScope = { readonly environments: readonly EnvironmentId[]; readonly limit: number };

const CUSTOMER = describeRow({
  environmentId: id<EnvironmentId>("s.environment_id"),
  customerNumber: id<CustomerNumber>("s.number"),
  customerId: text("s.customer_id"),
  name: orNull(text("s.name")),
  email: orNull(text("s.email")),
  billingReference: orNull(text("s.billing_reference")),
});

export type FoundCustomer = RowOf<typeof CUSTOMER>;

const COLUMNS = "c.environment_id, c.number, c.customer_id, c.name, c.email, c.billing_reference";

/** One index scan in one environment. Ordered by the index, so that the planner does not scan the whole table. */
const prefixed = (column: string): string => `
    (
      select ${COLUMNS}, 1 as rank
      from cell.customers as c
      where c.environment_id = e.id
        and lower(c.${column}) like $3
        and c.erased_at is null
      order by lower(c.${column}) using ~<~
      limit $4
    )`;

// The statements here and below are unnamed, so that PostgreSQL plans them for the actual search text. Only then can it use an
// index to find a prefix.
const FIND_CUSTOMERS = {
  name: "",
  text: `/* search.find_customers */
  select ${CUSTOMER.list}
  from unnest($1::integer[]) as e (id)
  cross join lateral (
    select ${COLUMNS}, 0 as rank
    from cell.customers as c
    where c.environment_id = e.id
      and c.customer_id = $2
      and c.erased_at is null
    union all
    ${["customer_id", "name", "email", "billing_reference"].map(prefixed).join(" union all ")}
  ) as s
  order by s.rank, s.number desc
  limit $5`,
};

/** First the customer with exactly this ID, then those whose ID, name, email or billing reference starts with it, ignoring case. */
export async function findCustomersByText(
  tx: Tx,
  { environments, limit }: SearchScope,
  prefix: string,
): Promise<FoundCustomer[]> {
  const pattern = `${escapePattern(prefix.toLowerCase())}%`;
  // A customer may match in each of the five branches.
  const parameters = [integers(environments), prefix, pattern, limit, limit * 5];
  const customers = new Map<CustomerNumber, FoundCustomer>();
  for (const customer of await listRows(tx, FIND_CUSTOMERS, parameters, CUSTOMER)) {
    if (!customers.has(customer.customerNumber)) customers.set(customer.customerNumber, customer);
  }
  return [...customers.values()].slice(0, limit);
}

const KEY = describeRow({
  environmentId: id<EnvironmentId>("s.environment_id"),
  key: text("s.key"),
  name: text("s.name"),
});

export type FoundKey = RowOf<typeof KEY>;

const findKeys = (table: "plans" | "features") => ({
  name: "",
  text: `/* search.find_${table} */
  select ${KEY.list}
  from unnest($1::integer[]) as e (id)
  cross join lateral (
    select t.environment_id, t.key, t.name
    from cell.${table} as t
    where t.environment_id = e.id
      and (t.key like $2 or t.key like $3)
    order by t.key
    limit $4
  ) as s
  limit $4`,
});

const FIND = { plans: findKeys("plans"), features: findKeys("features") } as const;

/** Plans or features whose key starts with the text, as written or in lower case. */
export function findCatalogByText(
  tx: Tx,
  table: "plans" | "features",
  { environments, limit }: SearchScope,
  prefix: string,
): Promise<FoundKey[]> {
  const patterns = [`${escapePattern(prefix)}%`, `${escapePattern(prefix.toLowerCase())}%`];
  return listRows(tx, FIND[table], [integers(environments), ...patterns, limit], KEY);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
