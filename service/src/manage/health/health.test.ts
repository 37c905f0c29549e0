import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { send, setupManage } from "../../../test/manage.ts";
import { VERSION } from "../../primitives/version.ts";

const HEALTH = "/manage/v1/health";

function lastFileOf(schema: string): string | undefined {
  return readdirSync(join(import.meta.dirname, "../../../migrations", schema))
    .sort()
    .at(-1);
}

test("a viewer can read the release, the start time and the migrations", async () => {
  const { manage, tokens, database } = await setupManage();
  const { status, body } = await manage("GET", HEALTH, { token: tokens.viewer });
  expect(status).toBe(200);
  const [server] = await database.query("show server_version");
  expect(body).toMatchObject({
    version: VERSION,
    nodeVersion: process.versions.node,
    postgresVersion: server?.["server_version"],
    migrations: ["control", "cell"].map((schema) => ({
      schema,
      name: lastFileOf(schema),
      number: Number(lastFileOf(schema)?.slice(0, 6)),
      appliedAt: expect.stringMatching(/Z$/),
    })),
  });
  const startedMs = Date.parse(String(body["startedAt"]));
  expect(Math.abs(startedMs - performance.timeOrigin)).toBeLessThan(1);
  expect(Math.abs(Date.parse(String(body["databaseClock"])) - Date.now())).toBeLessThan(5_000);
});

test("the ten largest tables are listed with sizes that include their partitions, largest first", async () => {
  const { manage, database, record } = await setupManage();
  const metadata = { text: "x".repeat(2_000) };
  await record({ customerId: "ada", event: "visit", quantity: 1, metadata });
  // Inserted in another month, so that the table has several non-empty partitions.
  await database.query(`
    insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id, metadata)
    select date_trunc('month', recorded_at) + interval '1 month 1 day', gen_random_uuid(), environment_id, customer_number,
      event, quantity, occurred_at, request_id, metadata
    from cell.events cross join generate_series(1, 5000)`);
  const { body } = await manage("GET", HEALTH);
  const tables = body["tables"] as { table: string; bytes: number }[];
  expect(tables).toHaveLength(10);
  expect(tables.map(({ bytes }) => bytes)).toEqual(tables.map(({ bytes }) => bytes).sort((a, b) => b - a));
  const [whole] = await database.query(`
    select sum(pg_total_relation_size(relid))::integer as bytes from pg_partition_tree('cell.events')`);
  expect(tables[0]).toEqual({ table: "cell.events", bytes: whole?.["bytes"] });
  expect(tables.filter(({ table }) => /_\d/.test(table))).toEqual([]);
  const sum = tables.reduce((total, { bytes }) => total + bytes, 0);
  expect(body["databaseBytes"]).toBeGreaterThan(sum);
});

test("a proxy that TRUST_PROXY does not cover is reported with advice to set it", async () => {
  const { manage, service } = await setupManage({ TRUST_PROXY: "10.0.0.0/8" });
  expect((await manage("GET", HEALTH)).body["untrustedProxy"]).toBeNull();
  const headers = { "x-forwarded-for": "203.0.113.9" };
  await send(`${service.url}/manage/v1/setup`, "GET", { headers });
  expect((await manage("GET", HEALTH)).body["untrustedProxy"]).toEqual({
    address: "127.0.0.1",
    advice: expect.stringContaining("add it to TRUST_PROXY"),
  });
  const trusting = await setupManage({ TRUST_PROXY: "127.0.0.1" });
  expect((await trusting.manage("GET", HEALTH, { headers })).body["untrustedProxy"]).toBeNull();
});
