import { expect, test } from "vitest";
import { liveBusyLives } from "../../test/busy-history.ts";
import { type Credits, openCredits, setupCredits } from "../../test/credits.ts";
import { prepareOnce, setupSeeded } from "../../test/harness.ts";
import { type Ended, runPurser } from "../../test/purser.ts";
import { TAMPERINGS } from "../../test/tamperings.ts";
import { reverseConsume } from "../manage/credits/reverse-consume.ts";
import { describeMismatch } from "./verify/report.ts";
import { verifyDatabase } from "./verify/verify-database.ts";

/** Verifies with the service's role, which cannot change history. */
async function verify({ database }: Credits): Promise<{ mismatch: string | null; entries: number }> {
  const { mismatch, checked } = await verifyDatabase(database.serviceUrl);
  return { mismatch: mismatch && describeMismatch(mismatch), entries: checked.entries };
}

const prepareHistory = prepareOnce(async () => {
  const credits = await setupCredits();
  await liveBusyLives(credits);
  await credits.service.stop();
  return { database: credits.database, facts: null };
});

/** Makes calls and management actions of every kind. */
async function setupHistory(): Promise<Credits> {
  const { template } = await prepareHistory();
  return openCredits(await setupSeeded(template, {}));
}

const purser = ({ database }: Credits): Promise<Ended> =>
  runPurser(["verify"], { DATABASE_URL: database.serviceUrl });

test("a valid history passes verification, and the command reports what it verified", async () => {
  const credits = await setupHistory();
  const entries = await credits.database.count("cell.ledger");
  const grants = await credits.database.count("cell.grants");
  const { code, stdout } = await purser(credits);
  expect(stdout).toContain(
    `6 wallets against ${entries} ledger entries, ${grants} grants and 2 reversals; 6 customers looked up`,
  );
  expect(stdout).toContain("Every wallet matches its ledger.");
  expect(code).toBe(0);
});

test("any tampering is detected, and the affected customer is named", { timeout: 120_000 }, async () => {
  const credits = await setupHistory();
  const { database } = credits;
  expect((await verify(credits)).mismatch).toBeNull();
  // Disables the triggers, which only the database owner can do.
  await database.query("set session_replication_role = replica");
  const tables = ["customers", "wallets", "grants", "overrides", "ledger"];
  for (const table of tables) await database.query(`create table kept_${table} as table cell.${table}`);
  for (const { name, names = 'customer "ada"', tamper } of TAMPERINGS) {
    await tamper(database);
    const { mismatch } = await verify(credits);
    expect({ name, mismatch }).toEqual({ name, mismatch: expect.stringContaining(names) });
    for (const table of tables) {
      await database.query(`delete from cell.${table}`);
      await database.query(`insert into cell.${table} overriding system value table kept_${table}`);
    }
  }
  expect((await verify(credits)).mismatch).toBeNull();
});

test("purser verify exits with code 1 on a mismatch", async () => {
  const credits = await setupCredits();
  await credits.database.query("update cell.wallets set balance = balance + 1");
  const { code, stdout } = await purser(credits);
  expect(stdout).toContain('MISMATCH: customer "ada"');
  expect(code).toBe(1);
});

test("a wallet charged during verification is not reported as a mismatch", async () => {
  const credits = await setupCredits();
  await credits.topUp("ada", 1_000_000);
  let isOver = false;
  const customers = ["ada", "bob", "carol"];
  for (const customer of customers) await credits.assign(customer);
  const charging = customers.map(async (customerId) => {
    for (let i = 0; !isOver; i++) {
      const feature = i % 3 === 0 ? "text.generate" : "export";
      await credits.consume({ customerId, feature, idempotencyKey: `${customerId}-${i}` });
    }
  });
  const mismatches = [];
  for (let round = 0; round < 30; round++) mismatches.push((await verify(credits)).mismatch);
  isOver = true;
  await Promise.all(charging);
  expect(mismatches.filter((mismatch) => mismatch !== null)).toEqual([]);
  expect(await credits.database.count("cell.ledger")).toBeGreaterThan(100);
});

test("a ledger of several pages passes verification, and tampering on its last page is detected", async () => {
  const credits = await setupCredits();
  const { database } = credits;
  await credits.topUp("ada", 1_000_000);
  const ask = (i: number) =>
    credits.consume({ customerId: "ada", feature: "image.render", idempotencyKey: `long-${i}` });
  for (let i = 0; i < 2_500; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => ask(i + j)));
  const first = (await ask(0)).body["consumeId"];
  await reverseConsume(credits.cell, credits.context, { consumeId: String(first), quantity: null });
  expect(await verify(credits)).toEqual({ mismatch: null, entries: 2_503 });
  const [reversal] = await database.query("select reverses from cell.ledger where sequence = 2503");
  await database.query("set session_replication_role = replica");
  await database.query("update cell.ledger set reverses = 1 where sequence = 2503");
  expect((await verify(credits)).mismatch).toContain('customer "ada"');
  await database.query("update cell.ledger set reverses = $1 where sequence = 2503", [
    reversal?.["reverses"],
  ]);
  expect((await verify(credits)).mismatch).toBeNull();
  await database.query("update cell.ledger set parts = '1:-10' where sequence = 2502");
  expect((await verify(credits)).mismatch).toContain('customer "ada"');
});
