import { bigints } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import {
  boolean,
  derive,
  describeRow,
  findRow,
  id,
  instant,
  integer,
  json,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import { decodeWalletState } from "./wallet-state.ts";

const RECORD = describeRow({
  customerNumber: id<CustomerNumber>("c.number"),
  customerId: derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value)),
  name: orNull(text("c.name")),
  email: orNull(text("c.email")),
  billingReference: orNull(text("c.billing_reference")),
  metadata: orNull(json("c.metadata")),
  createdAt: instant("c.created_at"),
  wallet: derive(
    describeRow({
      sequence: integer("w.sequence"),
      decidedAt: instant("w.decided_at"),
      isBlocked: boolean("w.is_blocked"),
      state: text("w.state"),
    }),
    ({ state, ...row }) => decodeWalletState(state, row),
  ),
});

/** A customer as people see one. */
export type CustomerRecord = RowOf<typeof RECORD>;

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
  const page = { environmentId, before, limit };
  const { numbers, next } =
    search === null ? await findNewest(tx, page) : await searchNumbers(tx, page, search);
  if (numbers.length === 0) return { records: [], next };
  return { records: await listRows(tx, READ_RECORDS, [environmentId, bigints(numbers)], RECORD), next };
}

// Whom a list shows is found first, and who they are is looked up then, one by one. In one statement the choice of a way
// would be the planner's, who for a rare text, a deep page or a large one has read all customers, or all wallets.
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

async function findNewest(tx: Tx, { environmentId, before, limit }: NumbersPage): Promise<FoundNumbers> {
  const { rows } = await tx.run(FIND_NEWEST, [environmentId, before, limit + 1]);
  return cut(readNumbers(rows), limit);
}

async function searchNumbers(tx: Tx, page: NumbersPage, search: string): Promise<FoundNumbers> {
  const pattern = `${search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  const found = await findMatching(tx, page.environmentId, pattern);
  if (found === null) return walkNewest(tx, page, pattern);
  return cut(
    found.filter((number) => number < page.before),
    page.limit,
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
  { environmentId, before, limit }: NumbersPage,
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

export function findCustomerRecord(
  tx: Tx,
  { environmentId, customerId }: { environmentId: EnvironmentId; customerId: CustomerId },
): Promise<CustomerRecord | null> {
  // Planned each time, as the tables may have been empty when this connection first met them.
  return findRow(tx, { ...FIND, name: "" }, [environmentId, customerId], RECORD);
}
