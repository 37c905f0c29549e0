import { sql } from "kysely";
import type { Wallet } from "../../entitlement/wallet.ts";
import { bigints } from "../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../words/brand.ts";
import { query, runQuery } from "../query.ts";
import { decodeWalletState } from "./wallet-state.ts";

/** A customer as people see one. */
export type CustomerRecord = {
  readonly customerNumber: CustomerNumber;
  readonly customerId: CustomerId;
  readonly name: string | null;
  readonly email: string | null;
  readonly billingReference: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: Instant;
  readonly wallet: Wallet;
};

const epoch = (column: string) => sql<string>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;

function selectCustomers(environmentId: EnvironmentId) {
  return query
    .selectFrom("cell.customers as c")
    .innerJoin("cell.wallets as w", (join) =>
      join.onRef("w.environment_id", "=", "c.environment_id").onRef("w.customer_number", "=", "c.number"),
    )
    .select([
      "c.number",
      "c.customer_id",
      "c.name",
      "c.email",
      "c.billing_reference",
      sql<string>`c.metadata::text`.as("metadata"),
      epoch("c.created_at").as("created_at"),
      "w.sequence",
      epoch("w.decided_at").as("decided_at"),
      "w.is_blocked",
      "w.state",
    ])
    .where("c.environment_id", "=", environmentId)
    .where("c.erased_at", "is", null);
}

export type CustomerSlice = {
  readonly records: readonly CustomerRecord[];
  /** The number to go on before; null: nobody is left. */
  readonly next: number | null;
};

/**
 * The newest first. `search` finds those whose id, name, email or billing reference begins with it, in any case; where it
 * finds very many, a slice may hold fewer than `limit` and still not be the last.
 */
export async function listCustomerRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  filter: { readonly search: string | null; readonly before: number | null; readonly limit: number },
): Promise<CustomerSlice> {
  const { search, limit } = filter;
  const before = filter.before ?? Number.MAX_SAFE_INTEGER;
  const place = { environmentId, before, limit };
  const { numbers, next } =
    search === null ? await findNewest(tx, place) : await searchNumbers(tx, place, search);
  if (numbers.length === 0) return { records: [], next };
  const { rows } = await tx.run(READ_RECORDS, [environmentId, bigints(numbers)]);
  return { records: rows.map(readRecord), next };
}

// Whom a list shows is found first, and who they are is looked up then, one by one. In one statement the choice of a way
// would be the planner's, who for a rare text, a deep page or a large one has read all customers, or all wallets.
const READ_RECORDS = statement(
  "customers.read_records",
  `
  select
    c.number, c.customer_id, c.name, c.email, c.billing_reference, c.metadata, c.created_at,
    w.sequence, w.decided_at, w.is_blocked, w.state
  from unnest($2::bigint[]) with ordinality as n (number, position)
  cross join lateral (
    select
      c.number, c.customer_id, c.name, c.email, c.billing_reference, c.metadata::text as metadata,
      (extract(epoch from c.created_at) * 1000)::bigint as created_at
    from cell.customers as c
    where c.environment_id = $1
      and c.number = n.number
      and c.erased_at is null
    limit 1
  ) as c
  cross join lateral (
    select w.sequence, (extract(epoch from w.decided_at) * 1000)::bigint as decided_at, w.is_blocked, w.state
    from cell.wallets as w
    where w.environment_id = $1
      and w.customer_number = n.number
    limit 1
  ) as w
  order by n.position`,
);

type Place = { readonly environmentId: EnvironmentId; readonly before: number; readonly limit: number };
type FoundNumbers = { readonly numbers: readonly number[]; readonly next: number | null };

/** One more than asked for tells whether anybody is left. */
function cut(found: readonly number[], limit: number): FoundNumbers {
  const numbers = found.slice(0, limit);
  return { numbers, next: found.length > limit ? (numbers.at(-1) ?? null) : null };
}

const FIND_NEWEST = statement(
  "customers.find_newest",
  `
  select c.number
  from cell.customers as c
  where c.environment_id = $1
    and c.number < $2
    and c.erased_at is null
  order by c.number desc
  limit $3::bigint`,
);

async function findNewest(tx: Tx, { environmentId, before, limit }: Place): Promise<FoundNumbers> {
  const { rows } = await tx.run(FIND_NEWEST, [environmentId, before, limit + 1]);
  return cut(readNumbers(rows), limit);
}

async function searchNumbers(tx: Tx, place: Place, search: string): Promise<FoundNumbers> {
  const pattern = `${search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  const found = await findMatching(tx, place.environmentId, pattern);
  if (found === null) return walkNewest(tx, place, pattern);
  return cut(
    found.filter((number) => number < place.before),
    place.limit,
  );
}

const SEARCHED = ["customer_id", "name", "email", "billing_reference"] as const;

/** So many that match in one way are found one and all, by the index of that way. */
const FOUND_MAX = 1_000;

// Without a name: planned for its text each time. In each index's own order, so that no other way comes cheaper.
const FIND_MATCHING = {
  name: "",
  text: `/* customers.find_matching */ ${SEARCHED.map(
    (column) => `
  (
    select c.number, '${column}'
    from cell.customers as c
    where c.environment_id = $1
      and lower(c.${column}) like $2
    order by lower(c.${column}) using ~<~
    limit $3
  )`,
  ).join(" union all ")}`,
};

/** The numbers of all who match, the newest first; null: they are too many for that. */
async function findMatching(
  tx: Tx,
  environmentId: EnvironmentId,
  pattern: string,
): Promise<readonly number[] | null> {
  const { rows } = await tx.run(FIND_MATCHING, [environmentId, pattern, FOUND_MAX + 1]);
  const ways = Map.groupBy(rows, ([, column]) => column);
  if (ways.values().some((found) => found.length > FOUND_MAX)) return null;
  return [...new Set(readNumbers(rows))].sort((a, b) => b - a);
}

/** Of a search that finds very many, so many of the newest are looked through for one slice. */
const WALKED_MAX = 10_000;

const WALKED = `
    select c.number, c.customer_id, c.name, c.email, c.billing_reference, c.erased_at
    from cell.customers as c
    where c.environment_id = $1
      and c.number < $2
    order by c.number desc
    limit $3::bigint`;

const WALK_NEWEST = statement(
  "customers.walk_newest",
  `
  select w.number
  from (${WALKED}
  ) as w
  where w.erased_at is null
    and (${SEARCHED.map((column) => `lower(w.${column}) like $4`).join(" or ")})
  order by w.number desc
  limit $5::bigint`,
);

const FIND_FLOOR = statement(
  "customers.find_floor",
  `
  select min(w.number), count(*)
  from (${WALKED}
  ) as w`,
);

async function walkNewest(
  tx: Tx,
  { environmentId, before, limit }: Place,
  pattern: string,
): Promise<FoundNumbers> {
  const walk = [environmentId, before, WALKED_MAX];
  const { rows } = await tx.run(WALK_NEWEST, [...walk, pattern, limit + 1]);
  const found = cut(readNumbers(rows), limit);
  if (found.next !== null) return found;
  const { rows: floors } = await tx.run(FIND_FLOOR, walk);
  const [floor, walked] = floors[0] ?? [];
  return readInteger(walked) < WALKED_MAX ? found : { ...found, next: readInteger(floor) };
}

function readNumbers(rows: readonly (readonly unknown[])[]): number[] {
  return rows.map(([number]) => readInteger(number));
}

export async function findCustomerRecord(
  tx: Tx,
  { environmentId, customerId }: { environmentId: EnvironmentId; customerId: CustomerId },
): Promise<CustomerRecord | null> {
  const found = selectCustomers(environmentId).where("c.customer_id", "=", customerId);
  const { rows } = await runQuery(tx, "customers.find_record", found);
  return rows[0] === undefined ? null : readRecord(rows[0]);
}

function readRecord(row: readonly unknown[]): CustomerRecord {
  const [number, customerId, name, email, billingReference, metadata, createdAt, ...wallet] = row;
  const [sequence, decidedAt, isBlocked, state] = wallet;
  return {
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    customerId: brandAs<CustomerId>(readText(customerId)),
    name: readNullable(name, readText),
    email: readNullable(email, readText),
    billingReference: readNullable(billingReference, readText),
    metadata: readNullable(metadata, (value) => JSON.parse(readText(value))),
    createdAt: readInstant(createdAt),
    wallet: decodeWalletState(readText(state), {
      sequence: readInteger(sequence),
      decidedAt: readInstant(decidedAt),
      isBlocked: readBoolean(isBlocked),
    }),
  };
}
