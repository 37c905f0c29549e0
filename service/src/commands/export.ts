import { createWriteStream } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callService, environmentPath, type ServiceOptions, send } from "./call-service.ts";

export type ExportOptions = ServiceOptions & { readonly directory: string };

/** Maximum number of rows in an import file. */
const FILE_ROWS_MAX = 200_000;
const HISTORIES = ["ledger", "grants", "charges", "events"] as const;

/** Writes the catalog, customers and history of an environment as files. The catalog and customers can be imported elsewhere. */
export async function exportCommand(options: ExportOptions): Promise<void> {
  const { directory, print } = options;
  const path = environmentPath(options);
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`);
  const write = (name: string, text: string) => writeFile(join(directory, name), text);

  const catalog = await callService(options, "GET", `${path}/catalog`);
  await write("catalog.json", `${JSON.stringify(catalog, null, 2)}\n`);

  const listed = await listAll<ListedCustomer>(options, `${path}/customers`);
  await write("customers.ndjson", listed.map((customer) => `${JSON.stringify(customer)}\n`).join(""));

  const customers = await listAll<OpeningCustomer>(options, `${path}/opening-balances`);
  const files = writeImportFiles(customers);
  for (const [name, text] of files) await write(name, text);

  for (const kind of HISTORIES) {
    const { body } = await send(options, "GET", `${path}/exports/${kind}?format=ndjson`);
    const file = createWriteStream(join(directory, `${kind}.ndjson`));
    await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body), file);
  }
  print(`Customers exported to ${directory}: ${customers.length}.`);
  for (const line of describeTotals(customers)) print(line);
  for (const line of describeMissing(listed)) print(line);
  print(
    `To import elsewhere: purser catalog apply catalog.json, then import ${[...files.keys()].join(", ")}.`,
  );
}

type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null };

/** Lists all items, oldest first. The service returns the newest first. */
async function listAll<T>(options: ServiceOptions, path: string): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await callService<Page<T>>(options, "GET", `${path}?limit=200${after}`);
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all.reverse();
}

export type OpeningCustomer = {
  readonly customerId: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly billingReference: string | null;
  readonly plan: { readonly key: string; readonly anchor: string; readonly endsAt: string | null } | null;
  readonly allowances: readonly { readonly pool: string; readonly remaining: number }[];
  readonly credits: readonly {
    readonly pool: string;
    readonly kind: string;
    readonly credits: number;
    readonly expiresAt: string | null;
  }[];
};

const HEADER = [
  "customerId",
  "name",
  "email",
  "billingReference",
  "plan",
  "anchor",
  "planEndsAt",
  "pool",
  "allowanceRemaining",
  "credits",
  "kind",
  "expiresAt",
] as const;

/** Returns the text of each import file by its name. All rows of a customer are in the same file. */
export function writeImportFiles(
  customers: readonly OpeningCustomer[],
  rowsMax = FILE_ROWS_MAX,
): Map<string, string> {
  const files: string[][] = [[]];
  for (const customer of customers) {
    const rows = rowsOf(customer);
    const isFull = (files.at(-1)?.length ?? 0) + rows.length > rowsMax;
    if (isFull) files.push([]);
    files.at(-1)?.push(...rows);
  }
  return new Map(
    files.map((rows, index) => [
      index === 0 ? "customers.csv" : `customers-${index + 1}.csv`,
      [HEADER.join(","), ...rows].map((row) => `${row}\n`).join(""),
    ]),
  );
}

/** Each row has one balance or allowance. Only a customer's first row has the profile and plan. */
function rowsOf({ customerId, name, email, billingReference, plan, ...held }: OpeningCustomer): string[] {
  const balances = [
    ...held.allowances.map(({ pool, remaining }) => [pool, remaining, null, null, null]),
    ...held.credits.map(({ pool, kind, credits, expiresAt }) => [pool, null, credits, kind, expiresAt]),
  ];
  const about = [name, email, billingReference, plan?.key, plan?.anchor, plan?.endsAt];
  const nothing = [null, null, null, null, null];
  return (balances.length === 0 ? [nothing] : balances).map((balance, index) =>
    [customerId, ...(index === 0 ? about : about.map(() => null)), ...balance].map(toCell).join(","),
  );
}

function toCell(value: string | number | null | undefined): string {
  const text = value == null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const KINDS = ["allowance", "purchase", "manual", "promotion"] as const;

/** Describes the totals by pool and kind, which the import also reports. */
function describeTotals(customers: readonly OpeningCustomer[]): string[] {
  const totals = new Map<string, bigint>();
  const pools = new Set<string>();
  const add = (pool: string, kind: string, credits: number): void => {
    pools.add(pool);
    totals.set(`${pool} ${kind}`, (totals.get(`${pool} ${kind}`) ?? 0n) + BigInt(credits));
  };
  for (const { allowances, credits } of customers) {
    for (const { pool, remaining } of allowances) add(pool, "allowance", remaining);
    for (const { pool, kind, credits: amount } of credits) add(pool, kind, amount);
  }
  const amounts = (pool: string) => KINDS.map((kind) => `${kind} ${totals.get(`${pool} ${kind}`) ?? 0}`);
  return [...pools].sort().map((pool) => `  ${pool}: ${amounts(pool).join(", ")}`);
}

type ListedCustomer = {
  readonly isBlocked: boolean;
  readonly metadata: unknown;
  readonly nextPlan: unknown;
  readonly overrides: unknown;
  readonly balances: readonly { readonly held: number }[];
};

/** Counts the customers with data that an import file cannot contain. */
function describeMissing(customers: readonly ListedCustomer[]): string[] {
  const missing: [string, (customer: ListedCustomer) => boolean][] = [
    ["blocked status", ({ isBlocked }) => isBlocked],
    ["overrides", ({ overrides }) => overrides !== null],
    ["pending plan changes", ({ nextPlan }) => nextPlan !== null],
    ["metadata", ({ metadata }) => metadata !== null],
    ["open holds, which count as released", ({ balances }) => balances.some(({ held }) => held > 0)],
  ];
  const counted = missing.map(([what, has]) => [what, customers.filter(has).length] as const);
  return counted.flatMap(([what, count]) =>
    count === 0 ? [] : [`  Not in the import file: ${what} (customers: ${count}, see customers.ndjson).`],
  );
}
