import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { sendFile, setupDuo } from "../../../test/imports.ts";
import type { Managed } from "../../../test/manage.ts";
import { verifyCommand } from "../../commands/verify.ts";

const HEADER = "customerId,plan,anchor,pool,allowanceRemaining,credits,kind,expiresAt,reference";

const FILE = `${HEADER}
c1,duo,2024-01-31T08:00:00Z,credits,268,500,purchase,,
c1,,,credits,,20,promotion,2099-01-01T00:00:00Z,
c1,,,minutes,15,,,,
c2,duo,2024-02-10T00:00:00Z,,1000,,,,
c2,,,minutes,0,,,,
c3,,,minutes,,7,,,
`;

async function readBalances({ manage }: Managed, customer: string): Promise<Record<string, number>> {
  const { body } = await manage("GET", `customers/${customer}`);
  const balances = body["balances"] as { pool: string; balance: number }[];
  return Object.fromEntries(balances.map(({ pool, balance }) => [pool, balance]));
}

async function expectVerified(managed: Managed): Promise<void> {
  await expectSoundBooks(managed.database);
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const isSound = await verifyCommand({ databaseUrl: managed.database.serviceUrl, print });
  expect([isSound, lines.join("\n")]).toEqual([true, lines.join("\n")]);
}

const errorsOf = (body: Readonly<Record<string, unknown>>) =>
  (body["errors"] as { row: number; column: string; code: string }[]).map(({ row, column, code }) => [
    row,
    column,
    code,
  ]);

test("an import sets the balances and renewal days from the file", async () => {
  const managed = await setupDuo();
  const { manage } = managed;
  const expected = {
    rows: 6,
    created: 3,
    failed: 0,
    planChanged: 2,
    creditsAdded: 3,
    credits: [
      { pool: "credits", allowance: 1_268, purchase: 500, manual: 0, promotion: 20 },
      { pool: "minutes", allowance: 15, purchase: 0, manual: 7, promotion: 0 },
    ],
    errors: [],
  };
  expect((await sendFile(managed, FILE, "dryRun=true")).body).toMatchObject(expected);
  expect((await manage("GET", "customers/c1")).status).toBe(404);
  expect((await sendFile(managed, FILE)).body).toMatchObject(expected);
  expect(await readBalances(managed, "c1")).toEqual({ credits: 788, minutes: 15 });
  expect(await readBalances(managed, "c2")).toEqual({ credits: 1_000, minutes: 0 });
  expect(await readBalances(managed, "c3")).toEqual({ credits: 0, minutes: 7 });
  const { body } = await manage("GET", "customers/c1");
  expect(body["plan"]).toMatchObject({ key: "duo", anchor: "2024-01-31T08:00:00.000Z" });
  const { items } = (await manage("GET", "customers/c1/grants")).body as { items: object[] };
  expect(items).toMatchObject([
    { kind: "promotion", remaining: 20, expiresAt: "2099-01-01T00:00:00.000Z" },
    { kind: "purchase", remaining: 500, expiresAt: null },
    { kind: "allowance", pool: "minutes", credits: 60, remaining: 15 },
    { kind: "allowance", pool: "credits", credits: 1_000, remaining: 268 },
  ]);
  await expectSoundBooks(managed.database);
});

test("repeating an import under the same name changes nothing, even after charges", async () => {
  const managed = await setupDuo();
  await sendFile(managed, FILE);
  const consume = { customerId: "c1", feature: "image.render", idempotencyKey: "one" };
  expect((await managed.consume(consume)).body).toMatchObject({ allowed: true });
  const before = await readBalances(managed, "c1");
  for (const query of ["dryRun=true", ""]) {
    const { body } = await sendFile(managed, FILE, query);
    expect(body).toMatchObject({ unchanged: 3, changed: 0, failed: 0, creditsAdded: 0, credits: [] });
  }
  expect(await readBalances(managed, "c1")).toEqual(before);
  await expectVerified(managed);
});

test("an import that corrects a customer's plan applies `allowanceRemaining` to the new plan only once", async () => {
  const managed = await setupDuo();
  await sendFile(managed, `${HEADER}\nc1,pro,,,40,250,purchase,,\n`);
  expect((await readBalances(managed, "c1"))["credits"]).toBe(290);
  const corrected = `${HEADER}\nc1,duo,,,300,250,purchase,,\nc1,,,minutes,15,,,,\n`;
  for (const query of ["dryRun=true", ""])
    expect((await sendFile(managed, corrected, query)).body).toMatchObject({
      planChanged: 1,
      started: [],
      creditsAdded: 0,
      credits: [
        { pool: "credits", allowance: 300 },
        { pool: "minutes", allowance: 15 },
      ],
    });
  expect(await readBalances(managed, "c1")).toEqual({ credits: 550, minutes: 15 });
  await managed.consume({ customerId: "c1", feature: "image.render", idempotencyKey: "one" });
  const charged = await readBalances(managed, "c1");
  expect((await sendFile(managed, corrected)).body).toMatchObject({ unchanged: 1, credits: [] });
  expect(await readBalances(managed, "c1")).toEqual(charged);
  await expectVerified(managed);
});

test("concurrent imports of the same file apply `allowanceRemaining` only once", async () => {
  const managed = await setupDuo();
  const rows = Array.from({ length: 300 }, (_, i) => [
    `t${i},duo,,,${i},5,purchase,,`,
    `t${i},,,minutes,1,,,,`,
  ]);
  const file = `${HEADER}\n${rows.flat().join("\n")}\n`;
  const both = await Promise.all([sendFile(managed, file), sendFile(managed, file)]);
  const total = (field: string): number => both.reduce((sum, { body }) => sum + Number(body[field]), 0);
  expect([total("created"), total("unchanged"), total("failed")]).toEqual([300, 300, 0]);
  const [sum] = await managed.database.query(
    "select sum(balance)::float8 as sum from cell.wallets as w join cell.customers as c on c.number = w.customer_number where c.customer_id like 't%'",
  );
  expect(sum).toEqual({ sum: (299 * 300) / 2 + 300 * 6 });
  await expectSoundBooks(managed.database);
});

test("`allowanceRemaining` is rejected if it exceeds the plan's allowance or the customer already has the plan", async () => {
  const managed = await setupDuo();
  const csv = `${HEADER}
more,duo,,,1001,,,,
bare,pro,,minutes,1,,,,
none,,,,5,,,,
ada,pro,,,40,,,,
exact,pro,,,100,,,,
`;
  const { body } = await sendFile(managed, csv);
  expect(errorsOf(body)).toEqual([
    [2, "allowanceRemaining", "above_allowance"],
    [3, "allowanceRemaining", "no_allowance"],
    [4, "plan", "required"],
    [5, "allowanceRemaining", "already_assigned"],
  ]);
  expect(body).toMatchObject({ created: 1, failed: 4 });
  expect((await readBalances(managed, "ada"))["credits"]).toBe(100);
  expect((await managed.manage("GET", "customers/more")).status).toBe(404);
});

test("an import is rejected if its anchor differs from the active plan's anchor", async () => {
  const managed = await setupDuo();
  const file = (anchor: string): string => `customerId,plan,anchor\nc1,duo,${anchor}\n`;
  await sendFile(managed, file("2024-01-31T08:00:00Z"));
  expect((await sendFile(managed, file("2024-01-31T08:00:00Z"))).body).toMatchObject({ unchanged: 1 });
  const { body } = await sendFile(managed, file("2024-01-30T08:00:00Z"));
  expect(errorsOf(body)).toEqual([[2, "anchor", "anchor_fixed"]]);
});

test("the rows of a customer are imported together or not at all", async () => {
  const managed = await setupDuo();
  const csv = `${HEADER}
a,duo,,,10,,,,
a,,,nothing,,5,,,
b,duo,,,10,,,,
b,pro,,,,5,,,
c,,,,,5,,,
c,,,,,6,,,
d,,,,,5,gift,,
d,,,,,6,,,
e,,,,,5,,,r1
e,,,,,6,,,r2
a,,,,,5,,,
`;
  const { body } = await sendFile(managed, csv);
  expect(errorsOf(body)).toEqual([
    [3, "pool", "unknown_key"],
    [5, "plan", "conflict"],
    [7, "credits", "duplicate"],
    [8, "kind", "wrong_form"],
    [12, "customerId", "duplicate"],
  ]);
  expect(body).toMatchObject({ rows: 11, created: 1, failed: 9, creditsAdded: 2 });
  expect((await readBalances(managed, "e"))["credits"]).toBe(11);
});

test("in a truncated file, the last customer is skipped instead of partly imported", async () => {
  const managed = await setupDuo();
  const { body } = await sendFile(managed, `${HEADER}\nc1,duo,,,10,,,,\nc2,duo,,,10,,,,\n"open`);
  expect(body).toMatchObject({ outcome: "stopped", created: 1, failed: 1 });
  expect((await managed.manage("GET", "customers/c2")).status).toBe(404);
});

test("credits that release 0.1 imported are not added again", async () => {
  const managed = await setupDuo();
  const { database } = managed;
  const file = "customerId,credits,pool,expiresAt\nold,5,minutes,2099-01-01T00:00:00Z\n";
  await sendFile(managed, file);
  // Release 0.1 used the same reference for all credits that an import added for a customer.
  await database.query("alter table cell.grants disable trigger all");
  await database.query(
    "update cell.grants set reference = regexp_replace(reference, '^(import:opening:\\d+):.*$', '\\1')",
  );
  expect((await sendFile(managed, file)).body).toMatchObject({ unchanged: 1, creditsAdded: 0 });
});
