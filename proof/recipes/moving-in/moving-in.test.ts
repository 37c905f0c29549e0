import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sendFile } from "../../../service/test/imports.ts";
import { setupManage } from "../../../service/test/manage.ts";
import { type Run, runProgram } from "../run-program.ts";

const RECIPE = join(import.meta.dirname, "../../../docs/recipes/moving-in");

/** Writes the files, and runs a program of the recipe with their paths. */
async function run(
  program: string,
  files: Readonly<Record<string, string | object>>,
  args: readonly string[] = [],
): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), "purser-moving-in-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    await writeFile(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
  const paths = args.map((arg) => (arg in files ? join(directory, arg) : arg));
  return runProgram(process.execPath, [join(RECIPE, program), ...paths], {});
}

const money = (value: number, currency = "usd") => ({ monetary: { currency, value }, type: "monetary" });

function grant(id: string, customer: unknown, value: number, more: object = {}) {
  return {
    id,
    object: "billing.credit_grant",
    amount: money(value),
    applicability_config: { scope: { price_type: "metered" } },
    category: "paid",
    created: 1_726_620_803,
    customer,
    customer_account: null,
    effective_at: 1_729_297_860,
    expires_at: null,
    livemode: false,
    metadata: {},
    name: "Purchased credits",
    priority: 50,
    test_clock: null,
    updated: 1_726_620_803,
    voided_at: null,
    ...more,
  };
}

function transaction(id: string, of: string, type: "credit" | "debit", value: number) {
  const detail = { amount: money(value), type: type === "credit" ? "credits_granted" : "credits_applied" };
  return {
    id,
    object: "billing.credit_balance_transaction",
    created: 1_726_619_524,
    credit: type === "credit" ? detail : null,
    credit_grant: of,
    debit: type === "debit" ? detail : null,
    effective_at: 1_729_211_351,
    livemode: false,
    test_clock: null,
    type,
  };
}

const list = (data: readonly object[], more = false) => ({
  object: "list",
  url: "/v1/billing/credit_grants",
  has_more: more,
  data,
});

const GRANTS = [
  list(
    [
      grant("credgr_1", "cus_B", 5_000),
      grant("credgr_2", { id: "cus_A", object: "customer", metadata: { customerId: "acme" } }, 1_000, {
        category: "promotional",
        expires_at: 4_070_908_800,
      }),
    ],
    true,
  ),
  list([
    grant("credgr_3", "cus_B", 999),
    grant("credgr_voided", "cus_B", 5_000, { voided_at: 1_729_297_861 }),
    grant("credgr_expired", "cus_B", 5_000, { expires_at: 1_729_297_861 }),
    grant("credgr_used", "cus_C", 700),
    grant("credgr_later", "cus_C", 700, { effective_at: 4_070_908_800 }),
  ]),
];

const TRANSACTIONS = list([
  transaction("cbtxn_1", "credgr_1", "credit", 5_000),
  transaction("cbtxn_2", "credgr_1", "debit", 1_250),
  transaction("cbtxn_3", "credgr_2", "credit", 1_000),
  transaction("cbtxn_4", "credgr_3", "credit", 999),
  transaction("cbtxn_5", "credgr_used", "credit", 700),
  transaction("cbtxn_6", "credgr_used", "debit", 700),
]);

test("Stripe's credit grants are imported once, with their remaining credits, kind and expiry", async () => {
  const files = {
    "grants.json": GRANTS,
    "transactions.json": TRANSACTIONS,
    "ids.json": { cus_B: "bolt, inc" },
  };
  const options = ["--transactions", "transactions.json", "--ids", "ids.json", "--rate", "usd=10/100"];
  const { code, stdout, stderr } = await run("stripe-credit-grants.mjs", files, ["grants.json", ...options]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("credgr_later becomes effective later")]);
  expect(stdout).toBe(
    [
      "customerId,billingReference,pool,credits,kind,expiresAt,reference",
      "acme,cus_A,credits,100,promotion,2099-01-01T00:00:00.000Z,credgr_2",
      '"bolt, inc",cus_B,credits,375,purchase,,credgr_1',
      '"bolt, inc",cus_B,credits,100,purchase,,credgr_3',
      "",
    ].join("\n"),
  );
  const managed = await setupManage();
  expect((await sendFile(managed, stdout)).body).toMatchObject({
    created: 2,
    failed: 0,
    credits: [{ pool: "credits", allowance: 0, purchase: 475, manual: 0, promotion: 100 }],
  });
  const again = await sendFile(managed, stdout, "name=another");
  expect(again.body).toMatchObject({ unchanged: 2, creditsAdded: 0 });
});

test("incomplete or unknown data from Stripe is rejected", async () => {
  const attempt = (grants: object, ...args: string[]) =>
    run("stripe-credit-grants.mjs", { "grants.json": grants }, ["grants.json", ...args]);
  const page = list([grant("credgr_1", "cus_A", 100)], true);
  const cases: [Run, string][] = [
    [await attempt(page, "--rate", "usd=1/1"), "is not complete"],
    [await attempt(list([grant("credgr_1", "cus_A", 100)]), "--rate", "eur=1/1"), "add --rate usd="],
    [await attempt(list([{ object: "charge" }]), "--rate", "usd=1/1"), "contains an object of type charge"],
    [await attempt(list([]), "--rate", "usd=x"), "not a rate"],
  ];
  for (const [{ code, stderr }, message] of cases)
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  const full = await attempt(list([grant("credgr_1", "cus_A", 100)]), "--rate", "usd=1/1");
  expect([full.code, full.stderr]).toEqual([0, expect.stringContaining("without --transactions")]);
});

test("missing Stripe transactions are detected, so that no customer gets used credits back or loses a grant", async () => {
  const attempt = (transactions: object) => {
    const grants = list([grant("credgr_1", "cus_A", 100), grant("credgr_2", "cus_B", 100)]);
    const files = { "grants.json": grants, "transactions.json": transactions };
    return run("stripe-credit-grants.mjs", files, [
      ...["grants.json", "--transactions", "transactions.json", "--rate", "usd=1/1"],
    ]);
  };
  const first = list([transaction("t1", "credgr_1", "credit", 100)], true);
  const last = list([transaction("t2", "credgr_1", "debit", 100)]);
  const other = list([transaction("t3", "credgr_2", "credit", 100)]);
  const cut = await attempt([first, other]);
  expect([cut.code, cut.stdout, cut.stderr]).toEqual([
    1,
    "",
    expect.stringContaining("the last page of cus_A"),
  ]);
  const unlisted = await attempt([first, last]);
  expect([unlisted.code, unlisted.stderr]).toEqual([
    0,
    expect.stringContaining("credgr_2 has no transactions"),
  ]);
  const whole = await attempt([last, other, first]);
  expect([whole.code, whole.stderr]).toEqual([0, ""]);
  expect(whole.stdout.trim().split("\n").slice(1)).toEqual(["cus_B,cus_B,credits,100,purchase,,credgr_2"]);
});

const BALANCES = `\uFEFFexternal_customer_id,plan_code,current_period_start,included_balance,credits_balance,comment
12345678,pro_monthly,1763000000,40,10.0,"has, a comma"
other,free,,,-3.5,
12345678,,,,0.25,"two
lines"
`;

const MAP = {
  customerId: "external_customer_id",
  plan: { column: "plan_code", values: { pro_monthly: "pro", free: "pro" } },
  anchor: { column: "current_period_start", time: "seconds" },
  allowanceRemaining: { column: "included_balance", round: "up" },
  credits: { column: "credits_balance", round: "up" },
  kind: { value: "purchase" },
  reference: "comment",
};

test("a map of columns turns any CSV file into an import file", async () => {
  const { code, stdout, stderr } = await run("csv-map.mjs", { "in.csv": BALANCES, "map.json": MAP }, [
    "in.csv",
    "map.json",
  ]);
  expect([code, stderr, stdout]).toEqual([
    0,
    "",
    [
      "customerId,plan,anchor,allowanceRemaining,credits,kind,reference",
      '12345678,pro,2025-11-13T02:13:20.000Z,40,10,purchase,"has, a comma"',
      '12345678,,,,1,purchase,"two\nlines"',
      "other,pro,,,0,purchase,",
      "",
    ].join("\n"),
  ]);
  const managed = await setupManage();
  expect((await sendFile(managed, stdout)).body).toMatchObject({
    created: 2,
    failed: 0,
    credits: [{ allowance: 140, purchase: 11 }],
  });
});

test("a map that does not match its file is rejected, and the error names the row", async () => {
  const attempt = (map: object, csv = BALANCES) =>
    run("csv-map.mjs", { "in.csv": csv, "map.json": map }, ["in.csv", "map.json"]);
  const cases: [Run, string][] = [
    [await attempt({ name: "comment" }), "the map has no customerId"],
    [await attempt({ ...MAP, phone: "comment" }), "phone is not a column"],
    [await attempt({ ...MAP, name: "nobody" }), "has no column nobody"],
    [await attempt({ ...MAP, plan: { column: "plan_code", values: {} } }), "row 2: the map has no value"],
    [
      await attempt({ ...MAP, anchor: { column: "plan_code", time: "date" } }),
      "row 2: plan_code is not a time",
    ],
    [await attempt(MAP, 'a,b\n"open,1\n'), "is not CSV near row 2"],
  ];
  for (const [{ code, stderr }, message] of cases)
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});
