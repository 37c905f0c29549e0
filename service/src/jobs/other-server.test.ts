import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { connectTo } from "../../test/harness.ts";
import { countOf, expectExactSums, settle } from "../../test/usage.ts";
import { migrateCommand } from "../commands/migrate.ts";
import { inspectEssentials } from "../commands/preflight.ts";
import { verifyUsageCommand } from "../commands/verify-usage.ts";
import { rollUpUsage } from "./roll-up-usage.ts";

const FAR = 1_000_000_000;
test("in a database restored onto another server, transaction numbers continue above the existing ones", async () => {
  const { database, cell, record } = await setupCredits();
  await record({ customerId: "ada", event: "before", quantity: 1 });
  await settle({ cell, database });
  const [row] = await database.query("select cell.follow_server() as is_other");
  expect(row?.["is_other"]).toBe(false);
  await database.query("alter table cell.events disable trigger user");
  await database.query(`update cell.events set transaction_number = transaction_number + ${FAR}`);
  await database.query(
    `update cell.usage_progress set transaction_number = transaction_number + ${FAR}, mark_number = mark_number + ${FAR}`,
  );
  const client = await connectTo(database);
  const failures = async () => (await inspectEssentials(client)).filter(({ level }) => level === "failure");
  expect(await failures()).toMatchObject([{ about: "transaction IDs" }]);
  // A process that was not restarted also detects the other server, for example after a DNS change.
  await expect(rollUpUsage(cell)).rejects.toThrow("not the database server");
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  await migrateCommand({ databaseUrl: database.url, grantTo: null, print });
  expect(lines).toHaveLength(2);
  expect(await failures()).toEqual([]);
  await record({ customerId: "ada", event: "after", quantity: 1 });
  await expect
    .poll(() => rollUpUsage(cell).then(() => countOf(database, "after")), { timeout: 5_000 })
    .toBe(1);
  await expectExactSums(database);
});

test("rows with higher transaction numbers than this server's are detected, even if they were never rolled up", async () => {
  const { database, cell, record } = await setupCredits();
  await record({ customerId: "ada", event: "before", quantity: 1 });
  await settle({ cell, database });
  // Simulates a dump that was taken while the roll-ups were behind.
  await database.query(
    `insert into cell.events
       (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id, transaction_number)
     select now(), gen_random_uuid(), 1, 1, 'behind', 1, now(), 'r', pg_current_xact_id()::text::bigint + ${FAR}`,
  );
  const client = await connectTo(database);
  const failures = async () => (await inspectEssentials(client)).filter(({ level }) => level === "failure");
  expect(await failures()).toMatchObject([{ about: "transaction IDs" }]);
  await expect(rollUpUsage(cell)).rejects.toThrow("not the database server");
  const print = () => {};
  const verify = () => verifyUsageCommand({ databaseUrl: database.serviceUrl, repair: null, print });
  await expect(verify()).rejects.toThrow("not the database server");
  await migrateCommand({ databaseUrl: database.url, grantTo: null, print });
  expect(await failures()).toEqual([]);
  await record({ customerId: "ada", event: "after", quantity: 1 });
  await expect
    .poll(() => rollUpUsage(cell).then(() => countOf(database, "after")), { timeout: 5_000 })
    .toBe(1);
  expect(await countOf(database, "behind")).toBe(1);
  await expectExactSums(database);
  expect(await verify()).toBe(true);
});

test("on another server, migrate fails within seconds if a table is locked, instead of blocking requests", {
  timeout: 20_000,
}, async () => {
  const { database } = await setupCredits();
  await database.query(`update cell.usage_progress set transaction_number = transaction_number + ${FAR}`);
  const reader = await connectTo(database);
  await reader.query("begin; lock table cell.ledger in access share mode");
  const migrating = migrateCommand({ databaseUrl: database.url, grantTo: null, print: () => {} });
  await expect(migrating).rejects.toMatchObject({ code: "55P03" });
});
