import { integers } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
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

const PROFILE = ["name", "email", "billing_reference"] as const;
const SEARCHED = ["customer_id", ...PROFILE] as const;

/** A shorter search text matches only the beginning, because a trigram index cannot find it elsewhere. */
const PART_LENGTH_MIN = 3;

/** The `like` pattern of a search text. */
export function patternOf(text: string): string {
  const escaped = escapePattern(text.toLowerCase());
  return isPart(text) ? `%${escaped}%` : `${escaped}%`;
}

function isPart(text: string): boolean {
  return [...text].length >= PART_LENGTH_MIN;
}

/** Whether a customer matches a pattern. */
export function matches(table: string, pattern: string): string {
  return SEARCHED.map((column) => `lower(${table}.${column}) like ${pattern}`).join(" or ");
}

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

/** Maximum number of IDs that one search reads. */
const IDS_MAX = 1_000_000;

/**
 * SQL for `found`: customers whose ID, name, email or reference contains the text. Names, emails and references have a trigram index.
 * IDs have none, because a customer's first request would have to update it. All IDs are read from their index instead, 100,000 in
 * about 30 ms.
 *
 * Materialized, because the planner would otherwise expect to stop early and choose a table scan, which reads all customers for a rare
 * text. The scans still stop at the limit.
 */
const containing = (columns: string, environment: string, pattern: string): string => `
    with profiles as materialized (
      select ${columns}
      from cell.customers as c
      where c.environment_id = ${environment}
        and c.erased_at is null
        and (c.name is not null or c.email is not null or c.billing_reference is not null)
        and (${PROFILE.map((column) => `lower(c.${column}) like ${pattern}`).join(" or ")})
    ),
    ids as materialized (
      select i.customer_id
      from (
        select c.customer_id
        from cell.customers as c
        where c.environment_id = ${environment}
        order by c.customer_id
        limit ${IDS_MAX}
      ) as i
      where lower(i.customer_id) like ${pattern}
    ),
    found as (
      select p.* from profiles as p
      union all
      select c.*
      from ids
      cross join lateral (
        select ${columns}
        from cell.customers as c
        where c.environment_id = ${environment}
          and c.customer_id = ids.customer_id
          and c.erased_at is null
        limit 1
      ) as c
    )`;

// The statements here and below are unnamed, so that PostgreSQL plans them for the actual search text. Only then can it use an
// index to find a prefix or a part.
const findCustomers = (isPart: boolean) => ({
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
    ${SEARCHED.map(prefixed).join(" union all ")}${isPart ? ` union all (${containing(COLUMNS, "e.id", "$6")} select found.*, 2 from found limit 2 * $4)` : ""}
  ) as s
  order by s.rank, s.number desc
  limit $5`,
});

const FIND_CUSTOMERS = { prefix: findCustomers(false), part: findCustomers(true) } as const;

/**
 * Finds customers by ID, name, email or billing reference, ignoring case. A search text of one or two characters matches only the
 * beginning. Order of the results:
 * - the customer with exactly this ID
 * - customers with a field that starts with the text
 * - customers with a field that contains the text
 */
export async function findCustomersByText(
  tx: Tx,
  { environments, limit }: SearchScope,
  searched: string,
): Promise<FoundCustomer[]> {
  const prefix = `${escapePattern(searched.toLowerCase())}%`;
  // A customer may match in each of the seven branches.
  const parameters = [integers(environments), searched, prefix, limit, limit * 7];
  const found = isPart(searched)
    ? await listRows(tx, FIND_CUSTOMERS.part, [...parameters, patternOf(searched)], CUSTOMER)
    : await listRows(tx, FIND_CUSTOMERS.prefix, parameters, CUSTOMER);
  const customers = new Map<CustomerNumber, FoundCustomer>();
  for (const customer of found) {
    if (!customers.has(customer.customerNumber)) customers.set(customer.customerNumber, customer);
  }
  return [...customers.values()].slice(0, limit);
}

/** Up to this many matches are read through an index. */
const MATCHING_MAX = 1_000;

const FIND_PART = {
  name: "",
  text: `/* customers.find_part */ ${containing("c.number", "$1", "$2")}
  select found.number
  from found
  limit $3`,
};

// Ordered by each index, so that the planner chooses that index.
const FIND_PREFIX = {
  name: "",
  text: `/* customers.find_prefix */ ${SEARCHED.map(
    (column) => `
  (
    select c.number
    from cell.customers as c
    where c.environment_id = $1
      and lower(c.${column}) like $2
      and c.erased_at is null
    order by lower(c.${column}) using ~<~
    limit $3
  )`,
  ).join(" union all ")}`,
};

/** The numbers of all customers that match. Null if there are more than MATCHING_MAX. */
export async function findMatching(
  tx: Tx,
  environmentId: EnvironmentId,
  searched: string,
): Promise<readonly number[] | null> {
  const statement = isPart(searched) ? FIND_PART : FIND_PREFIX;
  // A customer may match twice: by ID and by profile.
  const limit = 2 * MATCHING_MAX + 1;
  const { rows } = await tx.run(statement, [environmentId, patternOf(searched), limit]);
  const numbers = new Set(rows.map(([number]) => readInteger(number)));
  return numbers.size > MATCHING_MAX ? null : [...numbers];
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
      and (t.key like $2 or t.key like $3 or lower(t.name) like $5)
    order by t.key
    limit $4
  ) as s
  limit $4`,
});

const FIND = { plans: findKeys("plans"), features: findKeys("features") } as const;

/** Plans or features whose key starts with the text, as written or in lower case. Names match like customers' names. */
export function findCatalogByText(
  tx: Tx,
  table: "plans" | "features",
  { environments, limit }: SearchScope,
  searched: string,
): Promise<FoundKey[]> {
  const patterns = [`${escapePattern(searched)}%`, `${escapePattern(searched.toLowerCase())}%`];
  const parameters = [integers(environments), ...patterns, limit, patternOf(searched)];
  return listRows(tx, FIND[table], parameters, KEY);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
