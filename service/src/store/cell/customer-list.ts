import { bigints, texts } from "../../postgres/binary-array.ts";
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
import { assert } from "../../primitives/assert.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import {
  findNumbers,
  firstCompared,
  type NumbersPage,
  type Position,
  type Wanted,
} from "./customer-numbers.ts";
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
  /** The position of a record. A page can start after this position. */
  readonly positionOf: (record: CustomerRecord) => Position;
  /** Where the next page starts. Null if this was the last page. */
  readonly next: Position | null;
};

/** Lists one page of customers. If `search` matches too many customers to sort, any page can have fewer than `limit` customers. */
export async function listCustomerRecords(tx: Tx, page: NumbersPage, wanted: Wanted): Promise<CustomerSlice> {
  const { environmentId } = page;
  const { found, next } = await findNumbers(tx, page, wanted);
  const positions = new Map(found.map((position) => [position.number, position]));
  const records = await readCustomerRecords(tx, environmentId, [...positions.keys()]);
  const positionOf = ({ customerNumber }: CustomerRecord): Position => {
    const position = positions.get(customerNumber);
    assert(position !== undefined, "only found customers are read");
    return position;
  };
  return { records, positionOf, next };
}

const LIST_NUMBERS = statement(
  "customers.list_numbers",
  `
  select c.number
  from unnest($2::text[]) with ordinality as n (customer_id, position)
  cross join lateral (
    select c.number
    from cell.customers as c
    where c.environment_id = $1
      and c.customer_id = n.customer_id
      and c.erased_at is null
    limit 1
  ) as c
  order by n.position`,
);

/** The customers with these IDs, in the given order. Unknown IDs are skipped. */
export async function listRecordsById(
  tx: Tx,
  environmentId: EnvironmentId,
  customerIds: readonly CustomerId[],
): Promise<readonly CustomerRecord[]> {
  const { rows } = await tx.run(LIST_NUMBERS, [environmentId, texts(customerIds)]);
  return readCustomerRecords(tx, environmentId, readNumbers(rows));
}

/** Maximum customers with open holds that are included regardless of their balance. */
const HOLDERS_MAX = 1_000;

// The stored balance includes held credits, so a wallet with open holds may have less available. No index contains the balance, because
// every charge would update it. Unnamed, so that PostgreSQL makes a query plan for the actual range of customers.
const FIND_LOW = {
  name: "",
  text: `/* customers.find_low */
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
    from cell.wallets as w
    where w.environment_id = $1
      and w.customer_number >= $4::bigint
      and ($2::bigint is null or w.balance < $2)
    order by
      case when $2::bigint is null then 0 else w.balance end,
      w.decided_at desc
    limit $3::bigint
  )`,
};

export type StoredBalance = {
  readonly customerNumber: CustomerNumber;
  /** The credits of all pools when the wallet last changed. 0 if the customer has open holds. */
  readonly stored: number;
};

/**
 * Lists customers with open holds, then customers whose stored balance is below `below`, lowest first. Ties: most recently active first.
 * If `below` is null, the second group contains all customers, most recently active first.
 */
export async function findLow(
  tx: Tx,
  environmentId: EnvironmentId,
  { below, limit }: { readonly below: number | null; readonly limit: number },
): Promise<readonly StoredBalance[]> {
  const first = await firstCompared(tx, environmentId);
  const { rows } = await tx.run(FIND_LOW, [environmentId, below, limit, first]);
  const low = new Map<CustomerNumber, number>();
  for (const [number, balance] of rows) {
    const customerNumber = brandAs<CustomerNumber>(readInteger(number));
    if (!low.has(customerNumber)) low.set(customerNumber, readInteger(balance));
  }
  return [...low].map(([customerNumber, stored]) => ({ customerNumber, stored }));
}

/** Reads these customers, in the order of `numbers`. Erased customers are left out. */
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
  // Unnamed, because a query plan made while the tables were empty would be slow later.
  const found = await findRow(tx, { ...FIND, name: "" }, [environmentId, customerId], RECORD);
  if (found === null) return null;
  const [record = found] = await viewDueHolds(tx, [found], () => ({ ...found, environmentId }));
  return record;
}
