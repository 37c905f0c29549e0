import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { countOf, expectExactSums } from "../../test/usage.ts";
import type { Pool } from "../postgres/pool.ts";
import { single } from "../postgres/transaction.ts";
import { readUsageProgress } from "../store/cell/usage/progress.ts";
import { newUsageBatch, rollUpOnce, rollUpUsage } from "./roll-up-usage.ts";

const TIMEOUT_MS = 500;
/** Delay per row, chosen so that a statement can process about twenty rows in time. */
const SLEEP_MS = 20;
const CUSTOMERS = 64;

async function setupSlow(): Promise<{ database: TestDatabase; cell: Pool }> {
  const database = await createDatabase();
  const cell = openTestPool(database.serviceUrl);
  onTestFinished(() => cell.end());
  await cell.query(`set statement_timeout = ${TIMEOUT_MS}`);
  return { database, cell };
}

/** Simulates a slow disk. */
const slowDown = (database: TestDatabase, table: string) =>
  database.query(`
    create function public.sleep() returns trigger language plpgsql as $$
    begin perform pg_sleep(${SLEEP_MS / 1_000}); return new; end $$;
    create trigger sleep before insert on cell.${table} for each row execute function public.sleep()`);

const insert = (database: TestDatabase, from: number, to: number) =>
  database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), 1, number, 'e', 1, now(), 'r' from generate_series($1::bigint, $2) as number`,
    [from, to],
  );

test("a roll-up batch that times out is halved until it succeeds", { timeout: 60_000 }, async () => {
  const { database, cell } = await setupSlow();
  await slowDown(database, "usage_customer_days");
  for (let customer = 1; customer <= CUSTOMERS; customer++) await insert(database, customer, customer);
  const batch = newUsageBatch(CUSTOMERS);
  const failures: unknown[] = [];
  const turn = async () => {
    await rollUpUsage(cell, { batch }).catch((error) => failures.push(error));
    return countOf(database, "e");
  };
  await expect.poll(turn, { timeout: 50_000, interval: 0 }).toBe(CUSTOMERS);
  expect(failures[0]).toMatchObject({ code: "57014" });
  await expectExactSums(database);
});

test("a roll-up with rows increases the batch size, and a roll-up without rows keeps it", async () => {
  const { database, cell } = await setupSlow();
  const batch = newUsageBatch(64);
  const tooLong = new pg.DatabaseError("canceling statement due to statement timeout", 0, "error");
  tooLong.code = "57014";
  await expect(batch.attempt(() => Promise.reject(tooLong))).rejects.toBe(tooLong);
  for (let turn = 0; turn < 2; turn++) await rollUpUsage(cell, { batch });
  expect(batch.size).toBe(32);
  await insert(database, 1, 1);
  const turn = async () => {
    await rollUpUsage(cell, { batch });
    return countOf(database, "e");
  };
  await expect.poll(turn, { timeout: 10_000 }).toBe(1);
  expect(batch.size).toBe(36);
});

test("after timeouts, the remaining rows of a large transaction are added once, in smaller slices", {
  timeout: 60_000,
}, async () => {
  const { database, cell } = await setupSlow();
  await insert(database, 1, 2 * CUSTOMERS);
  const isPartial = async () => {
    await rollUpOnce(cell, { rowsMax: CUSTOMERS });
    return (await single(cell, readUsageProgress)).slices.done > 0;
  };
  await expect.poll(isPartial, { timeout: 10_000, interval: 0 }).toBe(true);
  await slowDown(database, "usage_customer_days");
  const turn = async () => {
    await rollUpUsage(cell).catch(() => {});
    return countOf(database, "e");
  };
  await expect.poll(turn, { timeout: 50_000, interval: 0 }).toBe(2 * CUSTOMERS);
  await expectExactSums(database);
});
