import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { connectTo } from "../../test/harness.ts";
import { settle } from "../../test/usage.ts";
import { verifyUsageCommand } from "../commands/verify-usage.ts";
import { keepPartitions } from "./keep-partitions.ts";

const TABLES = ["events", "ledger", "denials"];

test("partitions are made three months ahead, and making them again makes none", async () => {
  const { database, cell } = await setupCredits();
  await database.query(
    `do $$ begin execute (select string_agg(format('drop table cell.%I;', c.relname), '')
       from pg_class as c where c.relkind = 'r' and c.relname ~ '^(events|ledger|denials)_'
         and c.relname > left(c.relname, -7) || to_char(now() at time zone 'UTC' + interval '1 month', 'YYYY_MM')); end $$`,
  );
  expect(await keepPartitions(cell)).toBe(6);
  expect(await keepPartitions(cell)).toBe(0);
  for (const table of TABLES)
    expect(await database.count("pg_inherits", `inhparent = 'cell.${table}'::regclass`)).toBe(4);
});

test("a month can be detached and attached again while the service runs", { timeout: 60_000 }, async () => {
  const { database, cell, record } = await setupCredits();
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  const insert = `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
    select date_trunc('month', now(), 'UTC') - interval '10 days', gen_random_uuid(), 1, 1, 'old', 1, now(), 'r'`;
  await database.query(insert);
  await settle({ cell, database });
  const [row] = await database.query(
    `select format('cell.events_%s', to_char((now() at time zone 'UTC') - interval '1 month', 'YYYY_MM')) as name,
       pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_class as c where c.relname = 'events_' || to_char((now() at time zone 'UTC') - interval '1 month', 'YYYY_MM')`,
  );
  const client = await connectTo(database);
  await client.query(`alter table cell.events detach partition ${row?.["name"]} concurrently`);
  expect(await database.count("cell.events")).toBe(0);
  const { status } = await record({ customerId: "ada", event: "new", quantity: 1 });
  expect(status).toBe(200);
  await settle({ cell, database });
  // What was added up stays so: the sums outlive the rows.
  expect(await database.count("cell.usage_quarters")).toBeGreaterThan(0);
  await client.query(`alter table cell.events attach partition ${row?.["name"]} ${row?.["bound"]}`);
  expect(await database.count("cell.events")).toBe(2);
  const isSound = await verifyUsageCommand({
    databaseUrl: database.serviceUrl,
    repair: null,
    print: () => {},
  });
  expect(isSound).toBe(true);
});
