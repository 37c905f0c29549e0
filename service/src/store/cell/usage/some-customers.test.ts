import { expect, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { expectExactSums, settle } from "../../../../test/usage.ts";
import { single, transaction } from "../../../postgres/transaction.ts";
import { compareWithRows } from "./compare.ts";
import { waitForUsageProgress } from "./progress.ts";
import { rebuildBuckets, rebuildCustomers } from "./rebuild.ts";

const SLICES = 8;
const CUSTOMERS = 500;

test("each slice of customers is compared with its rows once, and rebuilt once", {
  timeout: 60_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const { environmentId } = project.test;
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), $1, i % ${CUSTOMERS}, 'event.' || i % 3, i, now(), 'r' from generate_series(1, 6000) as i`,
    [environmentId],
  );
  await settle({ cell, database });
  await expectExactSums(database);
  const slice = { environments: [environmentId], from: "-infinity", to: "infinity" };
  const compare = () =>
    Promise.all(
      Array.from({ length: SLICES }, (_, index) =>
        single(cell, (tx) => compareWithRows(tx, slice, { slices: SLICES, slice: index })),
      ),
    );
  const sound = await compare();
  expect(sound.map(({ wrong }) => wrong)).toEqual(Array(SLICES).fill(null));
  expect(sound.reduce((sum, { rows }) => sum + rows, 0)).toBe(6_000);
  for (const { rows } of sound) expect(rows).toBeGreaterThan(0);

  const rebuild = async () => {
    for (let index = 0; index < SLICES; index++)
      await transaction(cell, async (tx) => {
        await waitForUsageProgress(tx);
        await rebuildCustomers(tx, slice, { slices: SLICES, slice: index });
        if (index === SLICES - 1) await rebuildBuckets(tx, slice);
      });
  };
  const plants = [
    `update cell.usage_customer_days
     set bucket_quantities[array_lower(bucket_quantities, 1)] = bucket_quantities[array_lower(bucket_quantities, 1)] + 1
     where customer_number = 7 and meter_id = (select min(id) from cell.meters)`,
    "delete from cell.usage_customer_days where customer_number = 8",
    // A roll-up of a customer without rows.
    `insert into cell.usage_customer_days
     select environment_id, day, ${CUSTOMERS + 1}, meter_id, count, quantity, credits, bucket_counts, bucket_quantities, bucket_credits
     from cell.usage_customer_days where customer_number = 9`,
  ];
  for (const [index, plant] of plants.entries()) {
    await database.query(plant);
    await database.query("update cell.usage_buckets set count = count + 1");
    const wrong = (await compare()).flatMap((found) => found.wrong ?? []);
    expect(wrong.map(({ customerNumber }) => customerNumber)).toEqual([[7, 8, CUSTOMERS + 1][index]]);
    await rebuild();
    expect((await compare()).map((found) => found.wrong)).toEqual(Array(SLICES).fill(null));
    await expectExactSums(database);
  }
});
