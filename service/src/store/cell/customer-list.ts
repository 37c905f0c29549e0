import { bigints } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import {
  derive,
  describeRow,
  findRow,
  id,
  instant,
  json,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import { viewDueHolds } from "./due-holds.ts";
import { WALLET } from "./wallets.ts";

const RECORD = describeRow({
  customerNumber: id<CustomerNumber>("c.number"),
  customerId: derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value)),
  name: orNull(text("c.name")),
  email: orNull(text("c.email")),
  billingReference: orNull(text("c.billing_reference")),
  metadata: orNull(json("c.metadata")),
  createdAt: instant("c.created_at"),
  wallet: WALLET,
});

/** A customer as the management API lists it. */
export type CustomerRecord = RowOf<typeof RECORD>;

export type CustomerSlice = {
  readonly records: readonly CustomerRecord[];
  /** Where the next page starts. Null if this was the last page. */
  readonly next: number | null;
};

/**
 * Newest first. `search` matches the start of ID, name, email or billing reference, ignoring case. If it matches very many
 * customers, a page may hold fewer than `limit` and not be the last.
 */
export async function listCustomerRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  filter: { readonly search: string | null; readonly before: number | null; readonly limit: number },
): Promise<CustomerSlice> {
  const { search, limit } = filter;
  const before = filter.before ?? Number.MAX_SAFE_INTEGER;
  const page = { environmentId, before, limit };
  const { numbers, next } =
    search === null ? await findNewest(tx, page) : await searchNumbers(tx, page, search);
  return { records: await readCustomerRecords(tx, environmentId, numbers), next };
}

/** Wallets whose stored balance is compared in one call, those of the newest customers. */
const COMPARED_MAX = 100_000;

/** Customers with open holds that are candidates too. */
const HOLDERS_MAX = 1_000;

// The stored balance counts held credits, so a wallet with open holds may have any balance below it. No index has the balance, because
// every charge would update it. The first part reads three columns of each wallet, in order of its primary key.
const FIND_LOW = statement(
  "customers.find_low",
  `
  (
    select distinct h.customer_number, 0::bigint as balance
    from cell.open_holds as h
    where h.environment_id = $1
    order by h.customer_number desc
    limit ${HOLDERS_MAX}
  )
  union all
  (
    select w.customer_number, w.balance
    from (
      select q.customer_number, q.decided_at, q.balance
      from cell.wallets as q
      where q.environment_id = $1
      order by q.customer_number desc
      limit ${COMPARED_MAX}
    ) as w
    where $2::bigint is null
      or w.balance < $2
    order by
      case when $2::bigint is null then 0 else w.balance end,
      w.decided_at desc
    limit $3::bigint
  )`,
);

export type StoredBalance = {
  readonly customerNumber: CustomerNumber;
  /** The credits of all pools when the wallet last changed, or 0 if some of them are held. */
  readonly stored: number;
};

/**
 * Customers with open holds, then those whose stored balance is below `below`: the lowest first, and among equals the most recently
 * active. Null `below`: all customers, the most recently active first.
 */
export async function findLow(
  tx: Tx,
  environmentId: EnvironmentId,
  { below, limit }: { readonly below: number | null; readonly limit: number },
): Promise<readonly StoredBalance[]> {
  const { rows } = await tx.run(FIND_LOW, [environmentId, below, limit]);
  const low = new Map<CustomerNumber, number>();
  for (const [number, balance] of rows) {
    const customerNumber = brandAs<CustomerNumber>(readInteger(number));
    if (!low.has(customerNumber)) low.set(customerNumber, readInteger(balance));
  }
  return [...low].map(([customerNumber, stored]) => ({ customerNumber, stored }));
}

/** These customers, in the same order. Erased customers are left out. */
export async function readCustomerRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  numbers: readonly number[],
): Promise<readonly CustomerRecord[]> {
  if (numbers.length === 0) return [];
  const records = await listRows(tx, READ_RECORDS, [environmentId, bigints(numbers)], RECORD);
  return viewDueHolds(tx, records, (record) => ({ ...record, environmentId }));
}

// A list first finds the numbers, then looks up each customer. With a single statement, the planner chose to read all customers
// or all wallets for a rare search text, a deep page or a large page.
const READ_RECORDS = statement(
  "customers.read_records",
  `
  select ${RECORD.list}
  from unnest($2::bigint[]) with ordinality as n (number, position)
  cross join lateral (
    select
      c.number, c.customer_id, c.name, c.email, c.billing_reference, c.metadata, c.created_at
    from cell.customers as c
    where c.environment_id = $1
      and c.number = n.number
      and c.erased_at is null
    limit 1
  ) as c
  cross join lateral (
    select w.sequence, w.decided_at, w.is_blocked, w.state
    from cell.wallets as w
    where w.environment_id = $1
      and w.customer_number = n.number
    limit 1
  ) as w
  order by n.position`,
);

type NumbersPage = { readonly environmentId: EnvironmentId; readonly before: number; readonly limit: number };
type FoundNumbers = { readonly numbers: readonly number[]; readonly next: number | null };

/** `found` has up to `limit + 1` numbers. An extra number means that there is another page. */
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

async function findNewest(tx: Tx, { environmentId, before, limit }: NumbersPage): Promise<FoundNumbers> {
  const { rows } = await tx.run(FIND_NEWEST, [environmentId, before, limit + 1]);
  return cut(readNumbers(rows), limit);
}

async function searchNumbers(tx: Tx, page: NumbersPage, search: string): Promise<FoundNumbers> {
  const pattern = `${search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  const found = await findMatching(tx, page.environmentId, pattern);
  if (found === null) return scanNewest(tx, page, pattern);
  return cut(
    found.filter((number) => number < page.before),
    page.limit,
  );
}

const SEARCHED = ["customer_id", "name", "email", "billing_reference"] as const;

/** Up to this many matches in each column are read through its index. */
const FOUND_MAX = 1_000;

// Unnamed, so that PostgreSQL plans it for the given text. Ordered by each index, so that the planner chooses that index.
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

/** The numbers of all matches, newest first. Null if there are too many. */
async function findMatching(
  tx: Tx,
  environmentId: EnvironmentId,
  pattern: string,
): Promise<readonly number[] | null> {
  const { rows } = await tx.run(FIND_MATCHING, [environmentId, pattern, FOUND_MAX + 1]);
  const byColumn = Map.groupBy(rows, ([, column]) => column);
  if (byColumn.values().some((found) => found.length > FOUND_MAX)) return null;
  return [...new Set(readNumbers(rows))].sort((a, b) => b - a);
}

/** If a search matches too many, one page scans up to this many of the newest customers. */
const SCANNED_MAX = 10_000;

const SCANNED = `
    select c.number, c.customer_id, c.name, c.email, c.billing_reference, c.erased_at
    from cell.customers as c
    where c.environment_id = $1
      and c.number < $2
    order by c.number desc
    limit $3::bigint`;

const SCAN_NEWEST = statement(
  "customers.scan_newest",
  `
  select w.number
  from (${SCANNED}
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
  from (${SCANNED}
  ) as w`,
);

async function scanNewest(
  tx: Tx,
  { environmentId, before, limit }: NumbersPage,
  pattern: string,
): Promise<FoundNumbers> {
  const scan = [environmentId, before, SCANNED_MAX];
  const { rows } = await tx.run(SCAN_NEWEST, [...scan, pattern, limit + 1]);
  const found = cut(readNumbers(rows), limit);
  if (found.next !== null) return found;
  const { rows: floors } = await tx.run(FIND_FLOOR, scan);
  const [floor, scanned] = floors[0] ?? [];
  return readInteger(scanned) < SCANNED_MAX ? found : { ...found, next: readInteger(floor) };
}

function readNumbers(rows: readonly (readonly unknown[])[]): number[] {
  return rows.map(([number]) => readInteger(number));
}

const FIND = statement(
  "customers.find_record",
  `
  select ${RECORD.list}
  from cell.customers as c
  join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
  where c.environment_id = $1
    and c.customer_id = $2
    and c.erased_at is null`,
);

export async function findCustomerRecord(
  tx: Tx,
  { environmentId, customerId }: { environmentId: EnvironmentId; customerId: CustomerId },
): Promise<CustomerRecord | null> {
  // Unnamed, because a plan made when the tables were empty would be wrong later.
  const found = await findRow(tx, { ...FIND, name: "" }, [environmentId, customerId], RECORD);
  if (found === null) return null;
  const [record = found] = await viewDueHolds(tx, [found], () => ({ ...found, environmentId }));
  return record;
}
