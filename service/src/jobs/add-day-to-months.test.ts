import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { createDatabase } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { expectExactSums, settle } from "../../test/usage.ts";
import { addDayToMonths, rollUpUsage } from "./roll-up-usage.ts";

const DAY_MS = 24 * 3_600_000;

test("a day is added to the sums of months when it is over, in slices, and late events are in them", async () => {
  const { database, cell, record } = await setupCredits();
  const send = (i: number) => {
    const timestamp = new Date(Date.now() - (i % 30) * DAY_MS).toISOString();
    return record({ customerId: `c-${i % 11}`, event: `e.${i % 3}`, quantity: i + 1, timestamp });
  };
  // As if nothing had been added for a month; the service's own job is at it too, with larger steps.
  await database.query("update cell.usage_progress set months_to = months_to - interval '32 days'");
  for (let i = 0; i < 60; i++) await send(i);
  let i = 60;
  for (let more = true; more; i++) {
    if (i % 3 === 0) await send(i);
    await rollUpUsage(cell);
    more = await addDayToMonths(cell, { rowsMax: 2 });
  }
  for (let late = 0; late < 30; late++) await send(late);
  await settle({ cell, database });
  await expectExactSums(database);
  const [row] = await database.query(
    "select months_to >= date_trunc('day', now() - interval '1 hour', 'UTC') as is_over from cell.usage_progress",
  );
  expect(row?.["is_over"]).toBe(true);
  expect(await database.count("cell.usage_customer_months")).toBeGreaterThan(30);
});

test.for([
  ["2026-03-29", "2026-03-29T23:30:00Z"],
  ["2025-10-26", "2025-10-27T00:30:00Z"],
])("a day is one of UTC where the server's zone changes its clock: %s", async ([day, at]) => {
  const database = await createDatabase();
  const cell = openTestPool(database.serviceUrl);
  onTestFinished(() => cell.end());
  await cell.query("set timezone = 'Europe/Berlin'");
  // In the middle of that day, whose first customers are in the sums of months.
  await database.query("update cell.usage_progress set months_to = $1, months_below = 100", [
    `${day}T00:00:00Z`,
  ]);
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     values (now(), gen_random_uuid(), 1, 1, 'late', 1, $1, 'r')`,
    [at],
  );
  await settle({ cell, database });
  expect(await database.count("cell.usage_customer_months")).toBe(at?.startsWith(String(day)) ? 1 : 0);
  const isThere = async () => {
    await addDayToMonths(cell);
    return database.count("cell.usage_progress", `months_to > timestamptz '${at}'`);
  };
  await expect.poll(isThere, { timeout: 10_000, interval: 5 }).toBe(1);
  await expectExactSums(database);
});

test("a quarter to which something comes late again and again stays one in the end", async () => {
  const { database, cell, record } = await setupCredits();
  const timestamp = new Date(Date.now() - 3 * DAY_MS).toISOString();
  const send = async () => {
    await record({ customerId: "ada", event: "late", quantity: 2, timestamp });
    await settle({ cell, database });
    const [row] = await database.query(
      `select cardinality(slots) as length, (select sum(c) from unnest(counts) as c)::integer as count,
         (select sum(q) from unnest(quantities) as q)::integer as quantity
       from cell.usage_customer_slots`,
    );
    return row;
  };
  expect(await send()).toEqual({ length: 1, count: 1, quantity: 2 });
  expect(await send()).toEqual({ length: 2, count: 2, quantity: 4 });
  await database.query(
    `update cell.usage_customer_slots
     set slots = array_fill(slots[1], array[3999]), counts = array_fill(1::bigint, array[3999]),
       quantities = array_fill(2::numeric, array[3999]), credits = array_fill(0::numeric, array[3999])`,
  );
  expect(await send()).toEqual({ length: 4000, count: 4000, quantity: 8000 });
  expect(await send()).toEqual({ length: 1, count: 4001, quantity: 8002 });
});
