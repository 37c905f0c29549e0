import { bigints } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { boolean, describeRow, integer, listRows, type Part, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { findMatching, matches, patternOf } from "./search.ts";

export const CUSTOMER_ORDERS = [
  "newest",
  "oldest",
  "name_asc",
  "name_desc",
  "balance_asc",
  "balance_desc",
] as const;

/** The name orders use the ID for customers without a name. The balance orders use the stored total of all pools. */
export type CustomerOrder = (typeof CUSTOMER_ORDERS)[number];

/** A customer's position in a sort order. Customers with equal keys are sorted by number. */
export type Position = { readonly key: string | number; readonly number: number };

export type NumbersPage = {
  readonly environmentId: EnvironmentId;
  readonly order: CustomerOrder;
  /** The last customer of the previous page. */
  readonly after: Position | null;
  readonly limit: number;
};

export type FoundNumbers = {
  readonly found: readonly Position[];
  /** Where the next page starts. Null if this was the last page. */
  readonly next: Position | null;
};

export type Wanted = { readonly search?: string | null; readonly onlyBlocked?: boolean };

/**
 * Finds the customers of one page. `search` matches part of the ID, name, email or billing reference. If `search` matches too many
 * customers to sort, any page can have fewer than `limit` customers. With `onlyBlocked`, customers who are not blocked may be left out.
 */
export async function findNumbers(
  tx: Tx,
  page: NumbersPage,
  { search = null, onlyBlocked = false }: Wanted,
): Promise<FoundNumbers> {
  if (search === null) {
    const blocked = onlyBlocked ? await findBlocked(tx, page.environmentId) : null;
    if (blocked !== null) return cut(await sort(tx, page, blocked), page.limit);
    return cut(await scan(tx, page, page.limit + 1, null), page.limit);
  }
  const matching = await findMatching(tx, page.environmentId, search);
  if (matching !== null) return cut(await sort(tx, page, matching), page.limit);
  return scanMatching(tx, page, patternOf(search));
}

/** Up to this many blocked customers are read together. */
const BLOCKED_MAX = 1_000;
/** In larger environments, blocked customers are found page by page. 100,000 wallets are read in about 50 ms. */
const WALLETS_MAX = 500_000;

// There is no index: it would have to be built while charges wait.
const FIND_BLOCKED = statement(
  "customers.find_blocked",
  `
  select w.customer_number
  from cell.wallets as w
  where w.environment_id = $1
    and w.is_blocked
  limit ${BLOCKED_MAX + 1}`,
);

/** The numbers of all blocked customers. Null if there are too many wallets or blocked customers. */
async function findBlocked(tx: Tx, environmentId: EnvironmentId): Promise<readonly number[] | null> {
  if ((await nthNewest(tx, environmentId, WALLETS_MAX + 1)) !== null) return null;
  const { rows } = await tx.run(FIND_BLOCKED, [environmentId]);
  return rows.length > BLOCKED_MAX ? null : rows.map(([number]) => readInteger(number));
}

/**
 * How many customers are scanned per page if a search matches too many customers. The second scan runs only if the first does not fill the
 * page. The balance scans are smaller, because each scanned customer needs a separate lookup to be compared with the search.
 */
const SCANS = { created: [1_000, 9_000], name: [1_000, 9_000], balance: [250, 9_750] } as const;

async function scanMatching(tx: Tx, page: NumbersPage, pattern: string): Promise<FoundNumbers> {
  const matching: Position[] = [];
  let { after } = page;
  for (const size of SCANS[ORDERS[page.order].by]) {
    const scanned = await scan(tx, { ...page, after }, size, pattern);
    matching.push(...scanned.filter(({ isMatch }) => isMatch));
    after = scanned.length < size ? null : (scanned.at(-1) ?? null);
    if (after === null || matching.length > page.limit) break;
  }
  const { found, next } = cut(matching, page.limit);
  return { found, next: next ?? after };
}

/** `found` has more than `limit` positions if there is another page. */
function cut(found: readonly Position[], limit: number): FoundNumbers {
  const shown = found.slice(0, limit);
  return { found: shown, next: found.length > limit ? (shown.at(-1) ?? null) : null };
}

/**
 * Sorting by balance covers only the newest customers, up to this number. There is no index on the balance, because every charge would
 * update it.
 */
export const COMPARED_MAX = 100_000;

/**
 * Number of the oldest customer that is compared by balance, or 0 if all customers are. With this number as a parameter, PostgreSQL scans
 * a small table in one go, which takes half the time of a subquery with a limit, and reads only a range of a large table.
 */
export async function firstCompared(tx: Tx, environmentId: EnvironmentId): Promise<number> {
  return (await nthNewest(tx, environmentId, COMPARED_MAX)) ?? 0;
}

// Unnamed: a plan for environments of average size would sort a large one.
const NTH_NEWEST = {
  name: "",
  text: `/* customers.nth_newest */
  select w.customer_number
  from cell.wallets as w
  where w.environment_id = $1
  order by w.customer_number desc
  offset $2::bigint - 1
  limit 1`,
};

/** Number of the environment's `n`th newest customer. Null if it has fewer customers. */
async function nthNewest(tx: Tx, environmentId: EnvironmentId, n: number): Promise<number | null> {
  const [row] = (await tx.run(NTH_NEWEST, [environmentId, n])).rows;
  return row === undefined ? null : readInteger(row[0]);
}

type Source = {
  /** SQL for the environment's rows `s`. Ends with a condition, so that `and` can follow. */
  readonly rows: string;
  /** A query for the row of customer `n.number`. */
  readonly one: string;
  /** The sort key, as an expression on `s`. */
  readonly key: string;
  /** Whether the row matches the pattern. Null if the rows lack the searched columns. */
  readonly isMatch: string;
  /** The operators for keys after a given key, and for keys at or after it. */
  readonly compare: Readonly<Record<Direction, readonly [string, string]>>;
  /** A value before and a value after all possible keys. */
  readonly ends: readonly [string | number, string | number];
};

/** Must match the expression of the `customers_shown_name` index. */
const SHOWN_NAME = 'lower(coalesce(s.name, s.customer_id) collate "default")';

const NUMBERS = { asc: [">", ">="], desc: ["<", "<="] } as const;

const CUSTOMERS = {
  rows: "cell.customers as s where s.environment_id = $1 and s.erased_at is null",
  one: `
    select s.number, s.name, s.customer_id, s.email, s.billing_reference
    from cell.customers as s
    where s.environment_id = $1
      and s.number = n.number
      and s.erased_at is null`,
  // Without `coalesce`, a null column could make the result null, which would cause a second lookup.
  isMatch: `coalesce(${matches("s", "$5")}, false)`,
};

const SOURCES = {
  created: { ...CUSTOMERS, key: "s.number", compare: NUMBERS, ends: [-1, Number.MAX_SAFE_INTEGER] },
  name: {
    ...CUSTOMERS,
    key: SHOWN_NAME,
    // The operators of text_pattern_ops, which compare bytes.
    compare: { asc: ["~>~", "~>=~"], desc: ["~<~", "~<=~"] },
    // A name has at most 255 characters.
    ends: ["", "\u{10ffff}".repeat(256)],
  },
  balance: {
    rows: `(
      select w.customer_number as number, w.balance
      from cell.wallets as w
      where w.environment_id = $1
        and w.customer_number >= $6::bigint
    ) as s where true`,
    one: `
    select w.customer_number as number, w.balance
    from cell.wallets as w
    where w.environment_id = $1
      and w.customer_number = n.number`,
    key: "s.balance",
    isMatch: "null::boolean",
    compare: NUMBERS,
    ends: [-1, Number.MAX_SAFE_INTEGER],
  },
} as const satisfies Record<string, Source>;

type Direction = "asc" | "desc";

const ORDERS: Record<CustomerOrder, { readonly by: keyof typeof SOURCES; readonly direction: Direction }> = {
  newest: { by: "created", direction: "desc" },
  oldest: { by: "created", direction: "asc" },
  name_asc: { by: "name", direction: "asc" },
  name_desc: { by: "name", direction: "desc" },
  balance_asc: { by: "balance", direction: "asc" },
  balance_desc: { by: "balance", direction: "desc" },
};

/** The first part of the condition selects a range of the index. The second part skips customers with an equal key on earlier pages. */
function afterKey({ key, compare }: Source, direction: Direction): string {
  const [beyond, from] = compare[direction];
  const [next] = NUMBERS[direction];
  return `${key} ${from} $2 and (${key} ${beyond} $2 or s.number ${next} $3)`;
}

function orderBy({ compare }: Source, direction: Direction, key: string, number: string): string {
  // `using <` sorts ascending, so take the opposite operator.
  const [using] = compare[direction === "asc" ? "desc" : "asc"];
  return `${key} using ${using}, ${number} ${direction}`;
}

// Unnamed, so that PostgreSQL makes a query plan for the actual parameters.
function statementOf(rows: string, source: Source, direction: Direction) {
  return {
    name: "",
    text: `/* customers.in_order */
  select p.number, p.key,
    $5::text is null or coalesce(p.is_match, exists (
      select
      from cell.customers as c
      where c.environment_id = $1
        and c.number = p.number
        and (${matches("c", "$5")})
    ))
  from (
    select s.number, ${source.key} as key, ${source.isMatch} as is_match
    from ${rows}
      and ${afterKey(source, direction)}
    order by ${orderBy(source, direction, source.key, "s.number")}
    limit $4::bigint
  ) as p
  order by ${orderBy(source, direction, "p.key", "p.number")}`,
  };
}

type InOrder = Position & { readonly isMatch: boolean };

const inOrder = (key: Part<string | number>): Part<InOrder> =>
  describeRow({ number: integer("p.number"), key, isMatch: boolean("p.is_match") });

const IN_ORDER = {
  created: inOrder(integer("p.key")),
  name: inOrder(text("p.key")),
  balance: inOrder(integer("p.key")),
} as const satisfies Record<keyof typeof SOURCES, Part<InOrder>>;

/** Reads up to `limit` customers in the page's order. `isMatch` is true for customers that match the pattern. */
async function scan(tx: Tx, page: NumbersPage, limit: number, pattern: string | null): Promise<InOrder[]> {
  const { by, direction } = ORDERS[page.order];
  const source: Source = SOURCES[by];
  const first = by === "balance" ? [await firstCompared(tx, page.environmentId)] : [];
  const parameters = [page.environmentId, ...startOf(page), limit, pattern, ...first];
  return listRows(tx, statementOf(source.rows, source, direction), parameters, IN_ORDER[by]);
}

/** Sorts the customers in `numbers`, and leaves out customers on earlier pages. Returns one more than fits on the page. */
function sort(tx: Tx, page: NumbersPage, numbers: readonly number[]): Promise<InOrder[]> {
  const { by, direction } = ORDERS[page.order];
  const source: Source = SOURCES[by];
  const rows = `unnest($6::bigint[]) as n (number) cross join lateral (${source.one} limit 1) as s where true`;
  const parameters = [page.environmentId, ...startOf(page), page.limit + 1, null, bigints(numbers)];
  return listRows(tx, statementOf(rows, source, direction), parameters, IN_ORDER[by]);
}

function startOf({ order, after }: NumbersPage): [string | number, number] {
  if (after !== null) return [after.key, after.number];
  const { by, direction } = ORDERS[order];
  const [first, last] = SOURCES[by].ends;
  return direction === "asc" ? [first, -1] : [last, Number.MAX_SAFE_INTEGER];
}
