import { expect, test } from "vitest";
import { connectTo, createDatabase, type TestDatabase } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";
import { migrateCommand } from "../commands/migrate.ts";
import { inspectEssentials } from "../commands/preflight.ts";
import { setDefaultPlan } from "../manage/plans/operations.ts";

const RANGE = 2 ** 32;

async function rowNumbers(database: TestDatabase): Promise<unknown> {
  const findings = await inspectEssentials(await connectTo(database));
  return findings.find(({ about }) => about === "row numbers");
}

async function migrate(database: TestDatabase): Promise<string[]> {
  const lines: string[] = [];
  await migrateCommand({ databaseUrl: database.url, grantTo: null, print: (line) => lines.push(line) });
  return lines;
}

async function nextNumber(database: TestDatabase): Promise<number> {
  const [row] = await database.query("select nextval('cell.customers_number_seq') as number");
  return Number(row?.["number"]);
}

test("migrate reports and raises every sequence that is behind its rows, and lowers no sequence", async () => {
  const { database } = await setupManage();
  const sequences = await database.query(
    "select format('%I.%I', schemaname, sequencename) as name from pg_sequences where schemaname in ('control', 'cell')",
  );
  expect(await rowNumbers(database)).toMatchObject({ level: "ok" });
  expect((await migrate(database)).join()).not.toContain("advanced the sequences");
  for (const { name } of sequences) await database.query(`alter sequence ${name} restart`);
  expect(await rowNumbers(database)).toMatchObject({
    level: "failure",
    text: expect.stringMatching(/cell\.customers.*control\.api_keys.*purser migrate/),
  });
  // The check reports the same failure to the service's role.
  const service = await connectTo({ ...database, url: database.serviceUrl });
  expect(await inspectEssentials(service)).toContainEqual(
    expect.objectContaining({ level: "failure", about: "row numbers" }),
  );
  expect((await migrate(database)).at(-1)).toMatch(/cell\.assignments, cell\.customers, .*control\.projects/);
  expect(await rowNumbers(database)).toMatchObject({ level: "ok" });
  const [highest] = await database.query("select max(number) as number from cell.customers");
  expect(await nextNumber(database)).toBe(Number(highest?.["number"]) + 1);
  // The last number is already reserved and a lane may still write it, so it is not assigned again.
  await migrate(database);
  expect(await nextNumber(database)).toBe(Number(highest?.["number"]) + 2);
});

test("after rows are copied from a database with another ordinal, new customer numbers stay in this database's range", async () => {
  const database = await createDatabase();
  await database.query("update cell.identity set ordinal = 3");
  await database.query(
    `insert into cell.customers (environment_id, number, customer_id, created_at) overriding system value
     values (1, ${3 * RANGE + 41}, 'ada', now()), (1, ${4 * RANGE}, 'from another database', now())`,
  );
  await migrate(database);
  expect(await nextNumber(database)).toBe(3 * RANGE + 42);
});

test("a customer number cannot be used in another environment", async () => {
  const database = await createDatabase();
  const insert = (environmentId: number) =>
    database.query(
      `insert into cell.customers (environment_id, number, customer_id, created_at) overriding system value
       values (${environmentId}, 7, 'ada', now())`,
    );
  await insert(1);
  await expect(insert(2)).rejects.toMatchObject({ code: "23505", constraint: "customers_number_key" });
});

test("doctor warns when half of the customer numbers are used", async () => {
  const database = await createDatabase();
  await database.query(`select setval('cell.customers_number_seq', ${RANGE / 2 - 10})`);
  expect(await rowNumbers(database)).toMatchObject({ level: "ok" });
  await database.query(`select setval('cell.customers_number_seq', ${RANGE / 2 + 10})`);
  expect(await rowNumbers(database)).toMatchObject({
    level: "warning",
    text: expect.stringContaining("cell.customers"),
  });
});

test("a request that creates no customer uses no customer number", async () => {
  const { database, cell, context, manage, topUp, assign, consume, record } = await setupManage();
  await setDefaultPlan(cell, context, { plan: "pro" });
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "taken" });
  const before = await nextNumber(database);
  for (let i = 0; i < 3; i++) {
    await manage("PUT", "customers/ada", { body: { name: `Ada ${i}` } });
    await topUp("ada", 10);
    await assign("ada");
    await record({ customerId: "ada", event: "tokens", quantity: 1 });
    const customerId = `nobody-${i}`;
    const unknown = { customerId, feature: "nothing", idempotencyKey: `unknown-${i}` };
    expect((await consume(unknown)).status).toBe(404);
    const reused = { customerId, feature: "image.render", idempotencyKey: "taken" };
    expect((await consume(reused)).status).toBe(409);
  }
  expect(await nextNumber(database)).toBe(before + 1);
  const made = { customerId: "new", feature: "image.render", idempotencyKey: "new" };
  expect((await consume(made)).body).toMatchObject({ allowed: true });
  expect(await nextNumber(database)).toBe(before + 3);
});
