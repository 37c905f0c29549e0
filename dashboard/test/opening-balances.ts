import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Managed } from "../../service/test/manage.ts";

const CUSTOMERS = 5_000;
const KINDS = ["purchase", "manual", "promotion"] as const;

type Opening = {
  readonly id: string;
  readonly anchor: string;
  readonly allowance: number;
  readonly minutes: number;
  readonly credits: number;
  readonly kind: (typeof KINDS)[number];
};

const OPENINGS: readonly Opening[] = Array.from({ length: CUSTOMERS }, (_, i) => ({
  id: `customer_${i}`,
  anchor: new Date(Date.UTC(2025, i % 12, 1 + (i % 31))).toISOString(),
  allowance: i % 1_001,
  minutes: i % 61,
  credits: 1 + (i % 50),
  kind: KINDS[i % 3] ?? "manual",
}));

const ROWS = [
  "customerId,plan,anchor,pool,allowanceRemaining,credits,kind",
  ...OPENINGS.flatMap(({ id, anchor, allowance, minutes, credits, kind }) => [
    `${id},duo,${anchor},credits,${allowance},${credits},${kind}`,
    `${id},,,minutes,${minutes},,`,
  ]),
  "too-much,duo,,credits,1001,,",
  "",
];

/** A CSV file with 5,000 customers and two balances each. Its last row has an error. */
export const OPENING_BALANCES = {
  name: "opening.csv",
  mimeType: "text/csv",
  buffer: Buffer.from(ROWS.join("\n")),
};

function sumOf(of: (opening: Opening) => number): number {
  return OPENINGS.reduce((sum, opening) => sum + of(opening), 0);
}

const SUMS = {
  allowance: sumOf(({ allowance }) => allowance),
  minutes: sumOf(({ minutes }) => minutes),
  credits: sumOf(({ credits }) => credits),
};

function lineOf(name: string, amounts: readonly number[]): string {
  return [name, ...amounts.map((amount) => amount.toLocaleString("en"))].join(" ");
}

/** The totals of the file, as the import report lists them. */
export const OPENING_TOTALS = [
  lineOf("Credits", [
    SUMS.allowance,
    ...KINDS.map((kind) => sumOf((opening) => (opening.kind === kind ? opening.credits : 0))),
    SUMS.allowance + SUMS.credits,
  ]),
  lineOf("Minutes", [SUMS.minutes, 0, 0, 0, SUMS.minutes]),
];

/** Reads a table of the import report. */
export async function readReport(page: Page, table: string): Promise<string[]> {
  const rows = page.getByRole("region", { name: table }).locator("tbody tr");
  return (await rows.allInnerTexts()).map((text) => text.split(/\s+/).join(" "));
}

/** Expects the stored balances to add up to the totals of the file, and some customers to have their balances and renewal days. */
export async function expectOpeningBalances({ database, manage }: Managed): Promise<void> {
  const [stored] = await database.query(
    `select count(*)::integer as wallets, sum(w.balance)::integer as balance
     from cell.wallets as w
     join cell.customers as c on c.environment_id = w.environment_id and c.number = w.customer_number
     where c.customer_id like 'customer\\_%'`,
  );
  expect(stored).toEqual({ wallets: CUSTOMERS, balance: SUMS.allowance + SUMS.credits + SUMS.minutes });
  for (const opening of [0, 58, 4_999].map((index) => OPENINGS[index])) {
    const { body } = await manage("GET", `customers/${opening?.id}`);
    expect(body).toMatchObject({
      plan: { key: "duo", anchor: opening?.anchor },
      balances: [
        { pool: "credits", balance: (opening?.allowance ?? 0) + (opening?.credits ?? 0) },
        { pool: "minutes", balance: opening?.minutes },
      ],
    });
  }
}
