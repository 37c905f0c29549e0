import { expect, onTestFinished, test } from "vitest";
import { connectTo, createDatabase } from "../../../test/harness.ts";
import { openTestPool } from "../../../test/seed.ts";
import { single } from "../../postgres/transaction.ts";
import { isServerZone, readClock, readSettledClock } from "./clock.ts";

async function setupClock() {
  const database = await createDatabase();
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  const other = await connectTo(database);
  return { cell, other, readNow: () => single(cell, readClock) };
}

const HOLD = "select from cell.wallets where customer_number = 1 for update";

test.each([
  ["wallets", HOLD],
  // A plan change affects wallets even without a request.
  ["catalogs", "update cell.catalogs set changed_at = now() where environment_id = 1"],
])("the settled clock waits for every writer of %s, but not for a backup", async (table, hold) => {
  const { cell, other, readNow } = await setupClock();
  await other.query("set application_name = 'billing'");
  const before = await readNow();
  await other.query("begin");
  await other.query(`select from cell.${table}`);
  const reading = await readNow();
  expect(await single(cell, readSettledClock)).toBeGreaterThanOrEqual(reading);
  await other.query(hold);
  const settled = await single(cell, readSettledClock);
  expect(settled).toBeGreaterThanOrEqual(before);
  expect(settled).toBeLessThanOrEqual(reading);
  await other.query("commit");
  expect(await single(cell, readSettledClock)).toBeGreaterThan(reading);
});

test("if the start time of a transaction is hidden, the last minute does not count as settled", async () => {
  const { cell, other, readNow } = await setupClock();
  await other.query("set track_activities = off");
  await other.query("begin");
  await other.query(HOLD);
  expect((await readNow()) - (await single(cell, readSettledClock))).toBeGreaterThanOrEqual(59_000);
});

test("a time zone that the server does not support is rejected, and the connection stays usable", async () => {
  const { cell } = await setupClock();
  expect(await single(cell, (tx) => isServerZone(tx, "Europe/Berlin"))).toBe(true);
  expect(await single(cell, (tx) => isServerZone(tx, "Mars/Olympus"))).toBe(false);
  expect(await single(cell, (tx) => isServerZone(tx, "UTC"))).toBe(true);
});
