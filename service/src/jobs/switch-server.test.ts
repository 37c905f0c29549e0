import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { post } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { startTemporaryServer } from "../../test/temporary-server.ts";
import { doctorCommand } from "../commands/doctor.ts";
import { migrateCommand } from "../commands/migrate.ts";
import { parseUtcDay } from "../commands/verify/usage/utc-day.ts";
import { verifyUsageCommand } from "../commands/verify-usage.ts";
import { readConfig } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { createProject } from "../manage/projects/create-project.ts";
import { freePort } from "../postgres/free-port.ts";
import { startLocalServer } from "../postgres/local-server.ts";
import type { Instant } from "../primitives/brand.ts";
import { startService } from "../service.ts";
import { rollUpUsage } from "./roll-up-usage.ts";

const EVENTS_BEFORE = 40;
const EVENTS_AFTER = 60;
const CUSTOMERS = 7;
const NEWCOMER = { customerId: "c-0", event: "tokens", quantity: 1 };
/** How far the replica's transaction numbers are behind the old server's. */
const BEHIND = 2_000;

test("after a switch to a logical replica no usage is missing, and the alert remains until usage is verified", {
  timeout: 240_000,
}, async () => {
  const old = await openServer();
  const replica = await openServer();
  const project = await createProject(old.pool, "Product");
  const { secret } = project.test.key;
  await replica.empty();
  await old.query("create publication everything for all tables");
  await old.burn(BEHIND);
  await replica.query(`create subscription copy connection '${old.url}' publication everything`);
  // Tables are copied by separate workers in any order, so a roll-up can arrive before the API keys.
  await expect
    .poll(() => replica.query("select from pg_subscription_rel where srsubstate <> 'r'"))
    .toEqual([]);
  const first = await serve(old.url);
  await send(first.url, secret, EVENTS_BEFORE);
  await expect.poll(() => rollUpUsage(old.pool).then(() => old.countSummed())).toBe(EVENTS_BEFORE);
  await expect.poll(() => replica.countSummed()).toBe(EVENTS_BEFORE);
  await first.stop();
  await old.query("select pg_switch_wal()");
  await expect.poll(() => replica.readProgress()).toEqual(await old.readProgress());
  await replica.query("drop subscription copy");

  expect(await replica.readCounter()).toBeLessThan(
    Number((await old.readProgress())[0]?.["transaction_number"]) - BEHIND / 4,
  );

  // Simulates a running process that now reaches another server. The process still accepts events.
  const before = await replica.readProgress();
  const second = await serve(replica.url);
  await send(second.url, secret, EVENTS_AFTER);
  // Moves the counter above the old server's, so that comparing counters no longer reveals the switch.
  await replica.burn(2 * BEHIND);
  await send(second.url, secret, 1);
  await pause(2_000);
  const print = (): void => {};
  expect(await replica.readProgress()).toEqual(before);
  await expect(rollUpUsage(replica.pool)).rejects.toThrow("not the database server");
  expect(await doctor(replica.url)).toContain("FAILURE transaction IDs");
  expect(await doctor(replica.url)).toMatch(/FAILURE row numbers: .*cell\.customers/);
  // New customers are rejected, because they would get the numbers of customers in another environment.
  const live = project.live.key.secret;
  expect((await post(`${second.url}/v1/events`, live, NEWCOMER)).status).toBe(503);

  // Follows the documented recovery.
  await migrateCommand({ databaseUrl: replica.url, grantTo: null, print });
  expect(await doctor(replica.url)).toContain("ok      row numbers");
  await send(second.url, live, 1);
  expect(
    await replica.query(
      "select count(*)::integer as customers, count(distinct number)::integer as numbers from cell.customers",
    ),
  ).toEqual([{ customers: CUSTOMERS + 1, numbers: CUSTOMERS + 1 }]);
  await createProject(replica.pool, "Another");
  await send(second.url, secret, 1);
  const settled = () =>
    replica.query(
      "select p.transaction_number > pg_snapshot_xmin(pg_current_snapshot())::text::bigint + p.offset_by - 100 as is_settled from cell.usage_progress as p",
    );
  await expect.poll(() => rollUpUsage(replica.pool).then(settled)).toEqual([{ is_settled: true }]);
  const { complete_to } = before[0] ?? {};
  expect((await replica.readProgress())[0]?.["complete_to"]).toEqual(complete_to);
  expect(await doctor(replica.url)).toContain("warning usage");
  const verify = (repair: Instant | null) => verifyUsageCommand({ databaseUrl: replica.url, repair, print });
  expect(await verify(null)).toBe(false);
  expect(await replica.countSummed()).toBeLessThan(EVENTS_BEFORE + EVENTS_AFTER + 3);
  const today = parseUtcDay(new Date().toISOString().slice(0, 10));
  expect(await verify(today)).toBe(true);
  await expect.poll(() => replica.countSummed()).toBe(EVENTS_BEFORE + EVENTS_AFTER + 3);
  await expect
    .poll(() => replica.readProgress().then(([row]) => row?.["complete_to"]))
    .not.toEqual(complete_to);
  expect(await doctor(replica.url)).not.toMatch(/FAILURE|warning usage/);
  await second.stop();
});

test("a promoted standby resumes automatically", { timeout: 240_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "purser-promote-"));
  await chmod(directory, 0o755);
  const dataDirectory = join(directory, "data");
  const start = async () => startLocalServer({ dataDirectory, port: await freePort() });
  const primary = await start();
  const before = await openDatabase(primary.url("postgres"));
  const { secret } = (await createProject(before.pool, "Product")).test.key;
  const first = await serve(before.url);
  await send(first.url, secret, 5);
  await expect.poll(() => rollUpUsage(before.pool).then(() => before.countSummed())).toBe(5);
  await first.stop();
  await primary.stop();

  await writeFile(join(dataDirectory, "standby.signal"), "");
  const promoted = await start();
  onTestFinished(async () => {
    await promoted.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const after = await openDatabase(promoted.url("postgres"), async (query) => {
    await query("select pg_promote()");
    expect(await query("select timeline_id from pg_control_checkpoint()")).toEqual([{ timeline_id: 2 }]);
  });
  // FULL and FREEZE both rewrite the rows of a table.
  await after.query("vacuum (full, freeze) cell.usage_progress");
  await after.query("vacuum (full, freeze) cell.identity");
  const [stood] = await after.readProgress();
  const second = await serve(after.url);
  await send(second.url, secret, 6);
  await expect.poll(() => after.countSummed()).toBe(11);
  expect((await after.readProgress())[0]?.["complete_to"]).not.toEqual(stood?.["complete_to"]);
  expect(await doctor(after.url)).not.toMatch(/FAILURE|warning usage/);
  await second.stop();
});

async function openServer() {
  const server = await startTemporaryServer("switch", {
    settings: ["wal_level=logical", "log_min_messages=fatal"],
  });
  onTestFinished(() => server.stop());
  return openDatabase(server.url("postgres"));
}

type Query = (text: string) => Promise<Record<string, unknown>[]>;

async function openDatabase(url: string, prepare: (query: Query) => Promise<void> = async () => {}) {
  const query: Query = async (text) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  await prepare(query);
  await migrateCommand({ databaseUrl: url, grantTo: null, print: () => {} });
  const pool = openTestPool(url, 2);
  onTestFinished(() => pool.end());
  await query("select cell.ensure_monthly_partitions(3, 3)");
  return {
    url,
    pool,
    query,
    /** Deletes all rows, so that the subscription can copy all rows from the old server. */
    empty: async () => {
      const tables = await query(
        `select string_agg(format('%I.%I', schemaname, tablename), ', ') as list from pg_tables
         where schemaname in ('control', 'cell')`,
      );
      await query(`set session_replication_role = replica; truncate ${tables[0]?.["list"]}`);
    },
    burn: (count: number) =>
      query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`),
    readCounter: async () => Number((await query("select pg_current_xact_id()::text as n"))[0]?.["n"]),
    countSummed: async () =>
      Number((await query("select coalesce(sum(count), 0) as n from cell.usage_buckets"))[0]?.["n"]),
    readProgress: () => query("select transaction_number, complete_to from cell.usage_progress"),
  };
}

async function serve(databaseUrl: string) {
  const config = readConfig({ DATABASE_URL: databaseUrl, PORT: "0", METRICS_PORT: "0", LOG_LEVEL: "silent" });
  const service = await startService(config, openLog(config.logLevel));
  onTestFinished(() => service.stop());
  return service;
}

async function send(url: string, secret: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const body = { customerId: `c-${i % CUSTOMERS}`, event: "tokens", quantity: 1 };
    expect((await post(`${url}/v1/events`, secret, body)).status).toBe(200);
  }
}

async function doctor(databaseUrl: string): Promise<string> {
  const lines: string[] = [];
  await doctorCommand({ databaseUrl, print: (line) => lines.push(line.trim()) });
  return lines.join("\n");
}
