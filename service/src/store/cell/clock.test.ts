import { expect, onTestFinished, test } from "vitest";
import { connectTo, createDatabase } from "../../../test/harness.ts";
import { openPool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { readClock, readSettledClock } from "./clock.ts";

async function setupClock() {
  const database = await createDatabase();
  const cell = openPool({ url: database.url, name: "test", sizeMax: 1, onIdleError: () => {} });
  onTestFinished(() => cell.end());
  const other = await connectTo(database);
  return { cell, other, readNow: () => single(cell, readClock) };
}

const HOLD = "select from cell.wallets where customer_number = 1 for update";

test("nothing is settled that somebody under any name may still write, and a backup holds nobody up", async () => {
  const { cell, other, readNow } = await setupClock();
  await other.query("set application_name = 'billing'");
  const before = await readNow();
  await other.query("begin");
  await other.query("select from cell.wallets");
  const reading = await readNow();
  expect(await single(cell, readSettledClock)).toBeGreaterThanOrEqual(reading);
  await other.query(HOLD);
  const settled = await single(cell, readSettledClock);
  expect(settled).toBeGreaterThanOrEqual(before);
  expect(settled).toBeLessThanOrEqual(reading);
  await other.query("commit");
  expect(await single(cell, readSettledClock)).toBeGreaterThan(reading);
});

test("where nobody sees when a transaction began, the last minute is not settled", async () => {
  const { cell, other, readNow } = await setupClock();
  await other.query("set track_activities = off");
  await other.query("begin");
  await other.query(HOLD);
  expect((await readNow()) - (await single(cell, readSettledClock))).toBeGreaterThanOrEqual(59_000);
});
