import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { createDatabase, type Reply } from "../../test/harness.ts";
import { expectExactSums, settle } from "../../test/usage.ts";
import { brandAs, type CustomerNumber, type Instant } from "../primitives/brand.ts";
import { consumeId, readConsumeId } from "../primitives/consume-id.ts";
import { parsePublicId } from "../primitives/public-id.ts";
import { migrateCommand } from "./migrate.ts";
import { verifyCommand } from "./verify.ts";
import { verifyUsageCommand } from "./verify-usage.ts";

const RANGE = 2 ** 32;
const print = (): void => {};

test("databases with different ordinals never assign the same customer number or consumeId", async () => {
  const first = await numbersOf(0);
  const second = await numbersOf(1);
  const rangesOf = (numbers: readonly number[]) => numbers.map((number) => Math.floor(number / RANGE));
  expect(first.numbers[0]).toBe(1);
  expect(rangesOf(first.numbers)).toEqual([0, 0, 0]);
  expect(second.numbers[0]).toBe(RANGE);
  expect(rangesOf(second.numbers)).toEqual([1, 1, 1]);
  expect(first.ids).toEqual(first.numbers);
  expect(second.ids).toEqual(second.numbers);
});

/** Returns the numbers of three customers, decoded from their consume IDs and as stored in the database. */
async function numbersOf(ordinal: number) {
  const { database, assign, consume } = await setupCredits({}, (database) =>
    migrateCommand({ databaseUrl: database.url, grantTo: null, ordinal, print }),
  );
  const ids = [];
  for (const customerId of ["ada", "bob", "eve"]) {
    await assign(customerId);
    const { body } = await consume({
      customerId,
      feature: "image.render",
      quantity: 1,
      idempotencyKey: customerId,
    });
    ids.push(readConsumeId(idOf(body)).customerNumber);
  }
  const rows = await database.query("select number from cell.customers order by number");
  return { ids, numbers: rows.map((row) => Number(row["number"])) };
}

function idOf(body: Reply["body"]): Buffer {
  return parsePublicId("con", String(body["consumeId"])) ?? Buffer.alloc(16);
}

test("the highest ordinal fits into IDs, and usage, monthly statements and purser verify work with it", async () => {
  const { database, cell, assign, consume, record } = await setupCredits({}, (database) =>
    migrateCommand({ databaseUrl: database.url, grantTo: null, ordinal: 255, print }),
  );
  await database.query("alter sequence cell.customers_number_seq restart with 1099511627775");
  await assign("last");
  const { body } = await consume({
    customerId: "last",
    feature: "image.render",
    quantity: 1,
    idempotencyKey: "k",
  });
  const id = idOf(body);
  expect(readConsumeId(id)).toMatchObject({ customerNumber: 2 ** 40 - 1, sequence: 2 });
  expect(consumeId(readConsumeId(id))).toEqual(id);
  const timestamp = new Date(Date.now() - 50 * 3_600_000).toISOString();
  await record({ customerId: "last", event: "tokens", quantity: 5, timestamp });
  await settle({ cell, database });
  await expectExactSums(database);
  expect(await verifyUsageCommand({ databaseUrl: database.url, repair: null, print })).toBe(true);
  expect(await verifyCommand({ databaseUrl: database.url, print })).toBe(true);
  // At the end of the range, assigning a number fails instead of using another database's range.
  await expect(assign("beyond")).rejects.toMatchObject({ code: "2200H" });
});

test("an ordinal cannot change after a customer number was assigned", async () => {
  const database = await createDatabase();
  const migrate = (ordinal: number | null) =>
    migrateCommand({ databaseUrl: database.url, grantTo: null, ordinal, print });
  await migrate(3);
  await migrate(7);
  // Reserves a number, as a lane does before it inserts a customer.
  await database.query("select nextval('cell.customers_number_seq')");
  await expect(migrate(8)).rejects.toThrow("ordinal 7");
  await migrate(7);
  await migrate(null);
  const [row] = await database.query("select nextval('cell.customers_number_seq') as number");
  expect(Number(row?.["number"])).toBe(7 * RANGE + 1);
  for (const ordinal of [-1, 256, 1.5]) await expect(migrate(ordinal)).rejects.toThrow("0 to 255");
});

test("the largest consume ID is decoded correctly", () => {
  const largest = {
    recordedAt: brandAs<Instant>(2 ** 48 - 1),
    customerNumber: brandAs<CustomerNumber>(2 ** 40 - 1),
    sequence: 2 ** 40 - 1,
  };
  expect(readConsumeId(consumeId(largest))).toEqual(largest);
});
