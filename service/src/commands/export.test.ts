import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sendFile, setupDuo } from "../../test/imports.ts";
import { type Managed, setupManage } from "../../test/manage.ts";
import { runPurser } from "../../test/purser.ts";
import { writeImportFiles } from "./export.ts";

const OPENING = `customerId,name,plan,anchor,planEndsAt,pool,allowanceRemaining,credits,kind,expiresAt
"Smith, ""Jo""","Smith
& Sons",duo,2024-01-31T08:00:00Z,2099-01-31T08:00:00Z,credits,268,500,purchase,
"Smith, ""Jo""",,,,,credits,,20,promotion,2099-01-01T00:00:00Z
"Smith, ""Jo""",,,,,minutes,15,3,,
=cmd(),,pro,2024-02-29T00:00:00Z,,,0,,,
+49,,,,,minutes,,7,purchase,2098-01-01T00:00:00Z
empty,Nothing at all,,,,,,,,
`;

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "purser-export-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

const settingsOf = ({ service, tokens }: Managed): Record<string, string> => ({
  PURSER_URL: service.url,
  PURSER_TOKEN: tokens.admin,
});

type Items = { items: Record<string, unknown>[] };

/** Reads all customers, without the numbers and dates that differ between installations. */
async function readWallets({ manage }: Managed, at: string): Promise<unknown[]> {
  const { items } = (await manage("GET", `${at}/customers`)).body as Items;
  const wallets = await Promise.all(
    items.map(async ({ customerId, name, plan, balances }) => {
      const path = `${at}/customers/${encodeURIComponent(String(customerId))}/grants`;
      const grants = ((await manage("GET", path)).body as Items).items
        .filter(({ remaining }) => remaining !== 0)
        .map(({ kind, pool, remaining, expiresAt }) => ({ kind, pool, remaining, expiresAt }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      const { version: _, ...same } = (plan ?? {}) as Record<string, unknown>;
      return { customerId, name, plan: same, balances, grants };
    }),
  );
  return wallets.sort((a, b) => (String(a.customerId) < String(b.customerId) ? -1 : 1));
}

test("an exported environment can be imported into an empty installation, and the wallets match", async () => {
  const from = await setupDuo();
  expect((await sendFile(from, OPENING)).body).toMatchObject({ created: 4, failed: 0 });
  await from.consume({ customerId: "ada", feature: "image.render", idempotencyKey: "used" });

  const directory = join(await makeDirectory(), "out");
  const exported = await runPurser(["export", directory, "--project", "1"], settingsOf(from));
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  expect(exported.stdout).toMatch(/Customers exported to .*: 5\./);
  expect(exported.stdout).toContain("credits: allowance 358, purchase 500, manual 0, promotion 20");
  expect((await readdir(directory)).sort()).toEqual([
    "catalog.json",
    "charges.ndjson",
    "customers.csv",
    "customers.ndjson",
    "events.ndjson",
    "grants.ndjson",
    "ledger.ndjson",
  ]);

  const to = await setupManage();
  const live = ["--project", "1", "--environment", "live"];
  const apply = ["catalog", "apply", join(directory, "catalog.json"), ...live];
  expect((await runPurser(apply, settingsOf(to))).code).toBe(0);
  const there = { ...to, here: "/manage/v1/projects/1/live" };
  const file = await readFile(join(directory, "customers.csv"), "utf8");
  expect((await sendFile(there, file)).body).toMatchObject({
    created: 5,
    failed: 0,
    credits: [
      { pool: "credits", allowance: 358, purchase: 500, manual: 0, promotion: 20 },
      { pool: "minutes", allowance: 15, purchase: 7, manual: 3, promotion: 0 },
    ],
    errors: [],
  });
  expect(await readWallets(to, there.here)).toEqual(await readWallets(from, from.here));
});

test("an export rejects a non-empty folder, and reports what an import file cannot contain", async () => {
  const managed = await setupManage();
  await managed.manage("PUT", "customers/ada/block", { body: { blocked: true } });
  await managed.manage("PUT", "customers/ada/overrides", {
    body: { allowances: { credits: { credits: 900 } } },
  });
  const directory = await makeDirectory();
  const arguments_ = ["export", directory, "--project", "1"];
  const { stdout } = await runPurser(arguments_, settingsOf(managed));
  expect(stdout).toContain("Not in the import file: blocked status (customers: 1,");
  expect(stdout).toContain("Not in the import file: overrides (customers: 1,");
  await writeFile(join(directory, "note"), "");
  expect((await runPurser(arguments_, settingsOf(managed))).stderr).toContain("is not empty");
});

test("a large export is split into several import files, and no customer spans two files", () => {
  const credits = [1, 2].map((number) => ({
    pool: "credits",
    kind: "manual",
    credits: number,
    expiresAt: null,
  }));
  const profile = { name: null, email: null, billingReference: null, plan: null, allowances: [] };
  const customers = ["a", "b", "c"].map((customerId) => ({ customerId, ...profile, credits }));
  const files = writeImportFiles(customers, 5);
  expect([...files].map(([name, text]) => [name, text.split("\n").length - 2])).toEqual([
    ["customers.csv", 4],
    ["customers-2.csv", 2],
  ]);
});
