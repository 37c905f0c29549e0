import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { setupDuo } from "../../service/test/imports.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

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

const FILE = [
  "customerId,plan,anchor,pool,allowanceRemaining,credits,kind",
  ...OPENINGS.flatMap(({ id, anchor, allowance, minutes, credits, kind }) => [
    `${id},duo,${anchor},credits,${allowance},${credits},${kind}`,
    `${id},,,minutes,${minutes},,`,
  ]),
  "too-much,duo,,credits,1001,,",
  "",
].join("\n");

function sumOf(of: (opening: Opening) => number): number {
  return OPENINGS.reduce((sum, opening) => sum + of(opening), 0);
}

// The import can take half a minute on a busy machine.
const PATIENCE = { timeout: 180_000 };

test(
  "importing 5,000 customers stores their balances and renewal days, and the totals match the file",
  PATIENCE,
  async () => {
    const { service, manage, database } = await setupDuo();
    const kinds = KINDS.map((kind) => sumOf((opening) => (opening.kind === kind ? opening.credits : 0)));
    const [allowance, minutes, credits] = [
      sumOf((opening) => opening.allowance),
      sumOf((opening) => opening.minutes),
      sumOf((opening) => opening.credits),
    ];
    const line = (name: string, amounts: readonly number[]): string =>
      [name, ...amounts.map((amount) => amount.toLocaleString("en"))].join(" ");
    const expected = [
      line("Credits", [allowance, ...kinds, allowance + credits]),
      line("Minutes", [minutes, 0, 0, 0, minutes]),
    ];

    const page = await signIn(service.url, "/projects/1/test/customers");
    await page.getByRole("button", { name: "Import CSV" }).click();
    const file = { name: "opening.csv", mimeType: "text/csv", buffer: Buffer.from(FILE) };
    await page.getByLabel("File").setInputFiles(file);
    const linesOf = async (table: string): Promise<string[]> => {
      const rows = page.getByRole("region", { name: table }).locator("tbody tr");
      return (await rows.allInnerTexts()).map((text) => text.split(/\s+/).join(" "));
    };
    await page.getByRole("button", { name: "Check file" }).click();
    await page.getByText("Nothing has been imported yet. 10,001 rows checked.").waitFor();
    await page.getByText(/5,000 new customers start on Duo\. 5,000 rows add credits\./i).waitFor();
    expect(await linesOf("Credits to be added")).toEqual(expected);
    expect(await linesOf("Rows with errors")).toEqual([
      "10,002 allowanceRemaining is more than the plan's allowance of 1000",
    ]);
    await expectAccessible(page);
    expect(await database.count("cell.customers")).toBe(1);

    await page.getByRole("button", { name: "Import 10,000 rows into test" }).click();
    await page.getByText("Import complete. 10,001 rows processed.").waitFor(PATIENCE);
    expect(await linesOf("Credits added")).toEqual(expected);
    const [stored] = await database.query(
      `select count(*)::integer as wallets, sum(w.balance)::integer as balance
     from cell.wallets as w
     join cell.customers as c on c.environment_id = w.environment_id and c.number = w.customer_number
     where c.customer_id like 'customer\\_%'`,
    );
    expect(stored).toEqual({ wallets: CUSTOMERS, balance: allowance + credits + minutes });
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
  },
);

test("the check of a file counts the existing customers who get another plan", async () => {
  const { service, publish } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: "Import CSV" }).click();
  const buffer = Buffer.from("customerId,plan\nada,scale\n");
  await page.getByLabel("File").setInputFiles({ name: "plans.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: "Check file" }).click();
  await page.getByText("1 existing customer gets a new plan or plan end date.").waitFor();
});
