import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { connectTo, type TestDatabase } from "../../test/harness.ts";
import { settle } from "../../test/usage.ts";
import { verifyUsageCommand } from "../commands/verify-usage.ts";
import { single } from "../postgres/transaction.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { findWholeLedgerSince, findWholeSince } from "../store/cell/usage/attached-months.ts";
import { keepPartitions } from "./keep-partitions.ts";

const TABLES = ["events", "ledger", "denials"];

/** Drops the partitions of all months from `since` on, in months relative to the current month. */
async function dropMonths(
  database: TestDatabase,
  { since, tables = TABLES }: { since: number; tables?: readonly string[] },
): Promise<void> {
  await database.query(
    `do $$ begin execute (select string_agg(format('drop table cell.%I;', c.relname), '')
       from pg_class as c where c.relkind = 'r' and c.relname ~ '^(${tables.join("|")})_'
         and c.relname >= left(c.relname, -7) || to_char(now() at time zone 'UTC' + interval '${since} months', 'YYYY_MM')); end $$`,
  );
}

test("partitions are created three months ahead, and only once", async () => {
  const { database, cell } = await setupCredits();
  await dropMonths(database, { since: 2 });
  expect(await keepPartitions(cell)).toBe(6);
  expect(await keepPartitions(cell)).toBe(0);
  for (const table of TABLES)
    expect(await database.count("pg_inherits", `inhparent = 'cell.${table}'::regclass`)).toBe(4);
});

test("partitions for months in which no service ran are created later and not reported as missing", async () => {
  const { database, cell } = await setupCredits();
  await database.query("select cell.ensure_monthly_partitions(6, 0)");
  await keepPartitions(cell);
  await dropMonths(database, { since: -2 });
  expect(await keepPartitions(cell)).toBe(3 * (2 + 1 + 3));
  expect(await single(cell, findWholeSince)).toBe(null);
  expect(await keepPartitions(cell)).toBe(0);
});

test("a month that is missing from only one table is reported and not created again", async () => {
  const { database, cell } = await setupCredits();
  await database.query("select cell.ensure_monthly_partitions(6, 0)");
  await keepPartitions(cell);
  // The newest partition is three months old, but five months old for events, so two months of events are missing.
  await dropMonths(database, { since: -2 });
  await dropMonths(database, { since: -4, tables: ["events"] });
  expect(await keepPartitions(cell)).toBe(3 * (2 + 1 + 3));
  const [row] = await database.query(
    "select (extract(epoch from date_trunc('month', now() at time zone 'UTC' - interval '2 months') at time zone 'UTC') * 1000)::float8 as since",
  );
  expect(await single(cell, findWholeSince)).toBe(Number(row?.["since"]) + 3_600_000);
});

test("a month can be detached and attached again while the service runs", { timeout: 60_000 }, async () => {
  const { database, cell, record } = await setupCredits();
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  const insert = `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
    select at, gen_random_uuid(), 1, 1, 'old', 1, at, 'r' from (select date_trunc('month', now(), 'UTC') - interval '10 days' as at) as t`;
  await database.query(insert);
  await settle({ cell, database });
  await keepPartitions(cell);
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
  // The roll-ups are kept when the rows are detached.
  const sums = await database.count("cell.usage_buckets");
  expect(sums).toBe(2);
  const lines: string[] = [];
  const verify = (repair: Instant | null) =>
    verifyUsageCommand({ databaseUrl: database.serviceUrl, repair, print: (line) => lines.push(line) });
  const [old] = await database.query(
    "select (extract(epoch from date_trunc('month', now(), 'UTC')) * 1000)::float8 - 10 * 86400000 as day",
  );
  const day = brandAs<Instant>(Number(old?.["day"]));
  // Roll-ups cannot be recomputed while their rows are detached.
  expect(await verify(null)).toBe(true);
  expect(lines[0]).toMatch(/^Roll-ups before .* are not compared with rows/);
  await expect(verify(day)).rejects.toThrow("attach them first");
  expect(await database.count("cell.usage_buckets")).toBe(sums);
  await client.query(`alter table cell.events attach partition ${row?.["name"]} ${row?.["bound"]}`);
  expect(await database.count("cell.events")).toBe(2);
  lines.length = 0;
  expect(await verify(day)).toBe(true);
  expect(lines).toHaveLength(4);
  expect(await database.count("cell.usage_buckets")).toBe(sums);
});

test("the first month is reported as missing after it is detached", async () => {
  const { database, cell } = await setupCredits();
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  expect(await single(cell, findWholeSince)).toBe(null);
  await database.query(
    `do $$ begin execute format('alter table cell.denials detach partition cell.denials_%s',
       to_char((now() at time zone 'UTC') - interval '1 month', 'YYYY_MM')); end $$`,
  );
  const [row] = await database.query(
    "select (extract(epoch from date_trunc('month', now(), 'UTC')) * 1000)::float8 + 3600000 as since",
  );
  expect(await single(cell, findWholeSince)).toBe(row?.["since"]);
});

test("months before a partition far in the future are not reported as missing", async () => {
  const { database, cell } = await setupCredits();
  await keepPartitions(cell);
  await database.query(
    "create table cell.ledger_2099_01 partition of cell.ledger for values from ('2099-01-01 00:00:00+00') to ('2099-02-01 00:00:00+00')",
  );
  expect(await single(cell, findWholeLedgerSince)).toBe(null);
  expect(await single(cell, findWholeSince)).toBe(null);
});
