import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { balanceOf, FILE, sendFile } from "../../../test/imports.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

/** Counts the rows of every table that an import could write to. */
async function countAll({ database }: Managed): Promise<number[]> {
  const counts: number[] = [];
  for (const table of ["customers", "wallets", "ledger", "grants", "assignments", "audit"])
    counts.push(await database.count(`cell.${table}`));
  return counts;
}

test("a file imports customers with profiles, plans and opening balances", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const { status, body } = await sendFile(managed, FILE);
  expect([status, body]).toEqual([
    200,
    {
      outcome: "completed",
      isDryRun: false,
      rows: 4,
      created: 3,
      changed: 1,
      unchanged: 0,
      failed: 0,
      planChanged: 2,
      started: [{ plan: "pro", customers: 2 }],
      creditsAdded: 3,
      credits: [{ pool: "credits", allowance: 200, purchase: 0, manual: 300, promotion: 0 }],
      errors: [],
    },
  ]);
  expect((await manage("GET", "customers/c1")).body).toMatchObject({
    name: "Company, the first",
    email: "1@example.com",
    billingReference: "cus_1",
    plan: { key: "pro", endsAt: null },
    balances: [{ pool: "credits", balance: 350 }],
  });
  expect((await manage("GET", "customers/c2")).body).toMatchObject({
    plan: { endsAt: "2099-01-01T00:00:00.000Z" },
    balances: [{ balance: 100 }],
  });
  expect((await manage("GET", "customers/c3")).body).toMatchObject({
    plan: null,
    balances: [{ balance: 40 }],
  });
  expect(await balanceOf(managed, "ada")).toBe(110);
  const grants = await database.query(
    "select reference, expires_at from cell.grants where reference is not null",
  );
  expect(grants).toContainEqual({ reference: "pay_3", expires_at: new Date("2099-01-31T22:00:00Z") });
  await expectSoundBooks(database);
});

test("importing the same file under the same name adds nothing", async () => {
  const managed = await setupManage();
  await sendFile(managed, FILE);
  const before = await countAll(managed);
  for (let i = 0; i < 2; i++) {
    const { body } = await sendFile(managed, FILE);
    expect(body).toMatchObject({ rows: 4, unchanged: 4, created: 0, changed: 0, failed: 0, creditsAdded: 0 });
  }
  expect(await countAll(managed)).toEqual(before);
  // A different name makes this a new import, but explicit references are still duplicates.
  const { body } = await sendFile(managed, FILE, "name=second");
  expect(body).toMatchObject({ changed: 2, unchanged: 2, creditsAdded: 2 });
  expect(await balanceOf(managed, "c1")).toBe(600);
  expect(await balanceOf(managed, "c3")).toBe(40);
});

test("a dry run checks every row and writes nothing", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await managed.topUp("c3", 1);
  const before = await countAll(managed);
  const sequence = "select last_value from cell.customers_number_seq";
  const number = await database.query(sequence);
  const file = `${FILE}c5,,,,nonsense,,,,,\n`;
  const { body } = await sendFile(managed, file, "dryRun=true");
  expect(body).toMatchObject({ rows: 5, created: 2, changed: 2, failed: 1, creditsAdded: 3 });
  expect(await countAll(managed)).toEqual(before);
  expect(await database.query(sequence)).toEqual(number);
  const { body: done } = await sendFile(managed, file);
  expect(done).toEqual({ ...body, isDryRun: false });
});

test("an error shows its row and column, and nothing is imported for that customer", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await sendFile(managed, "customerId,credits,reference\nada,5,used\n");
  const csv = `customerId,name,plan,planEndsAt,credits,pool,expiresAt,reference
good,,,,7,,,
,x,,,,,,
bad1,,missing,,,,,
bad2,,pro,2020-01-01T00:00:00Z,,,,
bad3,,pro,2099-01-01T00:00:00,,,,
bad4,,,,1.5,,,
bad5,,,,1,missing,,
bad6,,,,1,,2020-01-01T00:00:00Z,
bad7,,,,1,,,used
bad8,${"x".repeat(256)},,,,,,
bad9,,,2099-01-01T00:00:00Z,,,,
bad10,,,,,,,lonely
bad11,,

good,twice,,,,,,
bad12,,,,9999999999999,,,
`;
  const { body } = await sendFile(managed, csv);
  expect(body).toMatchObject({ outcome: "completed", rows: 15, created: 1, failed: 14, creditsAdded: 1 });
  const errors = body["errors"] as { row: number; column: string | null; code: string; message: string }[];
  const messageOf = (row: number) => errors.find((error) => error.row === row)?.message;
  expect(messageOf(4)).toBe('is not a published plan in this environment: "missing"');
  expect(messageOf(6)).toBe('has no UTC offset (append Z if it is in UTC): "2099-01-01T00:00:00"');
  expect(messageOf(7)).toBe('must be a whole number (digits only), not "1.5"');
  expect(errors.map(({ row, column, code }) => [row, column, code])).toEqual([
    [3, "customerId", "required"],
    [4, "plan", "unknown_key"],
    [5, "planEndsAt", "ends_in_the_past"],
    [6, "planEndsAt", "wrong_form"],
    [7, "credits", "wrong_form"],
    [8, "pool", "unknown_key"],
    [9, "expiresAt", "expires_in_the_past"],
    [10, "reference", "reference_reused"],
    [11, "name", "too_long"],
    [12, "plan", "required"],
    [13, "credits", "required"],
    [14, null, "wrong_form"],
    [16, "customerId", "duplicate"],
    [17, "credits", "too_large"],
  ]);
  expect(await database.count("cell.customers", "customer_id like 'bad%'")).toBe(0);
  expect(await database.count("cell.customers", "customer_id = 'good'")).toBe(1);
});

test("an invalid email address is reported with its row and column", async () => {
  const managed = await setupManage();
  const { body } = await sendFile(managed, "customerId,email\nc1,bad-email\nc2,a@b.example\nc3,\n");
  expect(body).toMatchObject({
    created: 2,
    failed: 1,
    errors: [{ row: 2, column: "email", code: "wrong_form", message: "is not an email address" }],
  });
});

test("a plan end date before the current end date is reported with its row and column", async () => {
  const managed = await setupManage();
  const { body } = await sendFile(managed, "customerId,plan,planEndsAt\nada,pro,2099-01-01T00:00:00Z\n");
  expect(body["errors"]).toMatchObject([{ row: 2, column: "planEndsAt", code: "would_shorten" }]);
  expect((await managed.manage("GET", "customers/ada")).body).toMatchObject({ plan: { endsAt: null } });
});

test("with onError=stop, only rows before the first error are imported", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const csv = (mistake: string): string => `customerId,plan\na,pro\nb,pro\n${mistake}\nd,pro\n`;
  for (const [mistake, column] of [
    ["c,missing", "plan"],
    ['"",pro', "customerId"],
  ] as const) {
    const { body } = await sendFile(managed, csv(mistake), "onError=stop");
    expect(body).toMatchObject({ outcome: "stopped", failed: 1, rows: 3, errors: [{ row: 4, column }] });
  }
  const rows = await database.query("select customer_id from cell.customers order by customer_id");
  expect(rows.map((row) => row["customer_id"])).toEqual(["a", "ada", "b"]);
});

test("an import file with an invalid header is rejected", async () => {
  const managed = await setupManage();
  const headers: [string | Uint8Array<ArrayBuffer>, string, string][] = [
    ["", "header", "required"],
    ["name\nx\n", "customerId", "required"],
    ["customerId,phone\nx,1\n", "phone", "unknown_column"],
    ["customerId;name\nx;1\n", "customerId;name", "unknown_column"],
    ["customerId,name,name\nx,1,2\n", "name", "duplicate"],
    [new Uint8Array([0xff, 0xfe, 0x41]), "header", "not_utf8"],
  ];
  for (const [csv, field, code] of headers) {
    const { status, body } = await sendFile(managed, csv);
    const [first] = body["errors"] as unknown[];
    expect([status, body["code"], first]).toMatchObject([400, "invalid_request", { field, code }]);
  }
  const { body } = await sendFile(managed, "customerId;name\nx;1\n");
  expect(body["detail"]).toContain("separates columns with semicolons. Save the file with commas");
  // A byte order mark is not part of the first column name.
  expect((await sendFile(managed, "\ufeffcustomerId\r\nx\r\n")).body).toMatchObject({ created: 1 });
});

test("an import stops at invalid CSV or UTF-8, and earlier rows are kept", async () => {
  const managed = await setupManage();
  const rows = Array.from({ length: 1_000 }, (_, i) => `customer_${i},${"x".repeat(200)}`).join("\n");
  const { body } = await sendFile(managed, `customerId,name\n${rows}\n"open,1\nlast,2\n`);
  expect(body).toMatchObject({
    outcome: "stopped",
    failed: 1,
    errors: [{ row: 1_002, column: null, code: "not_csv" }],
  });
  const broken = Buffer.from(`customerId,name\n${rows}\n\xff,1\n`, "latin1");
  const again = await sendFile(managed, new Uint8Array(broken));
  expect(again.body).toMatchObject({ outcome: "stopped", errors: [{ code: "not_utf8" }] });
});

test("an import requires the operator role and a UTF-8 CSV file", async () => {
  const managed = await setupManage();
  const { tokens } = managed;
  for (const type of ["application/json", "text/csv; charset=iso-8859-1"]) {
    const { status, body } = await sendFile(managed, "customerId\n", "", { "content-type": type });
    expect([status, body["code"]]).toEqual([415, "unsupported_media_type"]);
  }
  const utf8 = await sendFile(managed, "customerId\n", "", { "content-type": "text/csv; charset=UTF-8" });
  expect(utf8.body).toMatchObject({ outcome: "completed", rows: 0 });
  const asViewer = { authorization: `Bearer ${tokens.viewer}` };
  expect((await sendFile(managed, "customerId\nx\n", "", asViewer)).status).toBe(403);
  expect((await sendFile(managed, "customerId\nx\n", "name=a%20b")).status).toBe(400);
});

test("every imported change is audited by customer number, without customer names or IDs", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await sendFile(managed, FILE);
  const rows = await database.query(
    "select action, subject, customer_number is null as of_all, before, after from cell.audit where actor_kind = 'token' order by action",
  );
  const count = (action: string): number => rows.filter((row) => row["action"] === action).length;
  const actions = [
    "customer.created",
    "customer.changed",
    "plan.assigned",
    "credits.added",
    "customers.imported",
  ];
  expect(actions.map(count)).toEqual([3, 1, 2, 3, 1]);
  expect(rows.find((row) => row["action"] === "customers.imported")).toMatchObject({
    subject: "opening",
    of_all: true,
    after: { rows: 4, created: 3 },
  });
  for (const word of ["Company", "example.com", "cus_1", '"c1"', "ada"])
    expect(JSON.stringify(rows)).not.toContain(word);
});

test("the audit log shows when imported credits expire", async () => {
  const managed = await setupManage();
  await sendFile(managed, "customerId,credits,expiresAt\nc9,5,2099-01-01T00:00:00Z\n");
  const { body } = await managed.manage("GET", "audit?action=credits.added");
  expect(body["items"]).toMatchObject([{ after: { credits: 5, expiresAt: "2099-01-01T00:00:00.000Z" } }]);
});
