import { integers } from "../../postgres/binary-array.ts";
import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import type { Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";

/** Of one search: where it may look, and how many of a kind it finds at most. */
export type SearchScope = { readonly environments: readonly EnvironmentId[]; readonly limit: number };

export type FoundCustomer = {
  readonly environmentId: EnvironmentId;
  readonly customerNumber: CustomerNumber;
  readonly customerId: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly billingReference: string | null;
};

const COLUMNS = "c.environment_id, c.number, c.customer_id, c.name, c.email, c.billing_reference";

/** One walk along one index, in one environment; in the index's own order, or a planner may prefer to read the whole table. */
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

// Without a name, here and below: planned for its text each time, as only then an index finds what begins with it.
const FIND_CUSTOMERS = {
  name: "",
  text: `/* search.find_customers */
  select s.environment_id, s.number, s.customer_id, s.name, s.email, s.billing_reference
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

/** Whose id is the text, and then whose id, name, email or billing reference begins with it, in any case. */
export async function findCustomersByText(
  tx: Tx,
  { environments, limit }: SearchScope,
  text: string,
): Promise<FoundCustomer[]> {
  const pattern = `${escapePattern(text.toLowerCase())}%`;
  // Each may be found by every column once.
  const parameters = [integers(environments), text, pattern, limit, limit * 5];
  const { rows } = await tx.run(FIND_CUSTOMERS, parameters);
  const found = new Map<number, FoundCustomer>();
  for (const [environmentId, number, customerId, name, email, billingReference] of rows) {
    const customerNumber = brandAs<CustomerNumber>(readInteger(number));
    if (found.has(customerNumber)) continue;
    found.set(customerNumber, {
      environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
      customerNumber,
      customerId: readText(customerId),
      name: readNullable(name, readText),
      email: readNullable(email, readText),
      billingReference: readNullable(billingReference, readText),
    });
  }
  return [...found.values()].slice(0, limit);
}

export type FoundKey = {
  readonly environmentId: EnvironmentId;
  readonly key: string;
  readonly name: string;
};

const findKeys = (table: "plans" | "features") => ({
  name: "",
  text: `/* search.find_${table} */
  select s.environment_id, s.key, s.name
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

/** Whose key begins with the text, as it is or in lower case. */
export async function findCatalogByText(
  tx: Tx,
  table: "plans" | "features",
  { environments, limit }: SearchScope,
  text: string,
): Promise<FoundKey[]> {
  const patterns = [`${escapePattern(text)}%`, `${escapePattern(text.toLowerCase())}%`];
  const { rows } = await tx.run(FIND[table], [integers(environments), ...patterns, limit]);
  return rows.map(([environmentId, key, name]) => ({
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    key: readText(key),
    name: readText(name),
  }));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
