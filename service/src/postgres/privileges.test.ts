import type pg from "pg";
import { expect, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { connectTo, createDatabase, type TestDatabase } from "../../test/harness.ts";
import { SERVICE_ROLE } from "../../test/postgres.ts";
import { openTestPool } from "../../test/seed.ts";
import { keepPartitions } from "../jobs/keep-partitions.ts";
import { grantToService } from "./privileges.ts";

const PERMISSION = "42501"; // insufficient_privilege
const APPEND_ONLY = "23001"; // restrict_violation, raised by a trigger of Purser

const connectAsService = (database: TestDatabase): Promise<pg.Client> =>
  connectTo({ ...database, url: database.serviceUrl });

/** Writes a keyed event, a charge and a denial, and returns the names of their partitions. */
async function setupWithHistory(): Promise<{
  database: TestDatabase;
  partition: string;
  keyPartition: string;
}> {
  const { database, record, consume } = await setupCredits();
  const reply = await record({ customerId: "c", event: "e", quantity: 1, idempotencyKey: "k" });
  expect(reply.status).toBe(200);
  for (const [idempotencyKey, quantity] of Object.entries({ charge: 1, denial: 100 }))
    await consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  expect([await database.count("cell.ledger"), await database.count("cell.denials")]).toEqual([2, 1]);
  const partitionOf = async (table: string): Promise<string> =>
    String((await database.query(`select tableoid::regclass::text as name from ${table}`))[0]?.["name"]);
  return {
    database,
    partition: await partitionOf("cell.events"),
    keyPartition: await partitionOf("cell.keyed_requests"),
  };
}

/** The error code of each statement, as `[statement, code]`. */
async function codesOf(client: pg.Client, statements: readonly string[]): Promise<[string, string][]> {
  const codes: [string, string][] = [];
  for (const statement of statements) {
    const code = await client.query(statement).then(
      () => "none",
      (error: pg.DatabaseError) => error.code ?? "unknown",
    );
    codes.push([statement, code]);
  }
  return codes;
}

test("the service's role cannot rewrite history, change the schema or grant itself privileges", async () => {
  const { database, partition, keyPartition } = await setupWithHistory();
  const refused: [string, string][] = [
    ["update cell.events set quantity = 2", PERMISSION],
    ["update cell.events set id = gen_random_uuid()", APPEND_ONLY],
    ["delete from cell.events", PERMISSION],
    ["truncate cell.events", PERMISSION],
    [`update ${partition} set quantity = 2`, PERMISSION],
    [`delete from ${partition}`, PERMISSION],
    [`truncate ${partition}`, PERMISSION],
    ["update cell.keyed_requests set fingerprint = gen_random_uuid()", PERMISSION],
    ["update cell.keyed_requests set key_hash = gen_random_uuid()", APPEND_ONLY],
    ["delete from cell.keyed_requests", PERMISSION],
    [`delete from ${keyPartition}`, PERMISSION],
    ["truncate cell.keyed_requests", PERMISSION],
    [`truncate ${keyPartition}`, PERMISSION],
    ["update cell.customers set number = default", PERMISSION],
    ["delete from cell.customers", PERMISSION],
    ["update cell.wallets set customer_number = 7", PERMISSION],
    ["delete from cell.wallets", PERMISSION],
    ["update cell.ledger set amount = 0", PERMISSION],
    ["update cell.ledger set metadata = '{}'", APPEND_ONLY],
    ["delete from cell.ledger", PERMISSION],
    ["truncate cell.ledger", PERMISSION],
    ["update cell.denials set reason = 1", PERMISSION],
    ["update cell.denials set metadata = '{}'", APPEND_ONLY],
    ["delete from cell.denials", PERMISSION],
    ["update cell.grants set credits = 1", PERMISSION],
    ["delete from cell.grants", PERMISSION],
    ["update cell.assignments set plan_id = 1", PERMISSION],
    ["update cell.overrides set terms = ''", PERMISSION],
    ["delete from cell.overrides", PERMISSION],
    ["update cell.audit set after = null", PERMISSION],
    ["delete from cell.audit", PERMISSION],
    ["update cell.plan_versions set reach = 'now'", PERMISSION],
    ["update cell.plan_features set cost_credits = 1", PERMISSION],
    ["delete from cell.plan_allowances", PERMISSION],
    ["create table cell.mine ()", PERMISSION],
    ["create table control.mine ()", PERMISSION],
    ["create table public.mine ()", PERMISSION],
    ["create schema mine", PERMISSION],
    ["drop table cell.events", PERMISSION],
    ["alter table cell.events disable trigger all", PERMISSION],
    ["create or replace function cell.refuse_change() returns trigger language sql as ''", PERMISSION],
    ["update control.api_keys set scopes = '{}'", PERMISSION],
    ["update control.api_keys set secret_hash = sha256('mine')", PERMISSION],
    ["delete from control.api_keys", PERMISSION],
    ["update control.projects set workspace_id = 1", PERMISSION],
    ["update control.environments set kind = 'live'", PERMISSION],
    ["delete from control.members", PERMISSION],
    ["delete from control.links", PERMISSION],
    ["update control.sessions set expires_at = 'infinity'", PERMISSION],
    ["update control.audit set after = null", PERMISSION],
    ["delete from control.audit", PERMISSION],
    ["truncate control.audit", PERMISSION],
    ["delete from cell.migrations", PERMISSION],
  ];
  const service = await connectAsService(database);
  expect(
    await codesOf(
      service,
      refused.map(([statement]) => statement),
    ),
  ).toEqual(refused);
  expect([await database.count("cell.events"), await database.count("cell.keyed_requests")]).toEqual([1, 3]);
});

test("the service's role can delete keys only with IDEMPOTENCY_DAYS, and never recent keys", async () => {
  const { database, keyPartition } = await setupWithHistory();
  const owner = await connectTo(database);
  const service = await connectAsService(database);
  const statements = ["delete from cell.keyed_requests", `delete from ${keyPartition}`];
  const codes = async () => (await codesOf(service, statements)).map(([, code]) => code);
  await grantToService(owner, SERVICE_ROLE, { endsKeys: true });
  expect(await codes()).toEqual([APPEND_ONLY, APPEND_ONLY]);
  await grantToService(owner, SERVICE_ROLE, { endsKeys: false });
  expect(await codes()).toEqual([PERMISSION, PERMISSION]);
});

test("the triggers reject the same changes by the database owner, even on a single partition", async () => {
  const { database, partition, keyPartition } = await setupWithHistory();
  const statements = [
    "update cell.events set quantity = 2",
    "update cell.events set recorded_at = recorded_at + interval '1 month'",
    "delete from cell.events",
    "truncate cell.events",
    `update ${partition} set quantity = 2`,
    `delete from ${partition}`,
    `truncate ${partition}`,
    "update cell.keyed_requests set fingerprint = gen_random_uuid()",
    "update cell.keyed_requests set key_hash = gen_random_uuid()",
    `update ${keyPartition} set subject_id = gen_random_uuid()`,
    "delete from cell.keyed_requests",
    `delete from ${keyPartition}`,
    ...[
      "ledger",
      "denials",
      "assignments",
      "audit",
      "plan_versions",
      "plan_allowances",
      "plan_features",
    ].flatMap((table) => [
      `update cell.${table} set environment_id = 7`,
      `delete from cell.${table}`,
      `truncate cell.${table} cascade`,
    ]),
    "update cell.ledger set metadata = '{}'",
    "update cell.ledger set metadata = null, amount = 0",
    "update cell.grants set credits = credits + 1",
    "update cell.grants set revoked_at = now(), credits = 1",
    "delete from cell.grants",
    "truncate cell.grants",
    "update control.audit set after = null",
    "delete from control.audit",
    "truncate control.audit",
  ];
  const owner = await connectTo(database);
  expect(await codesOf(owner, statements)).toEqual(statements.map((statement) => [statement, APPEND_ONLY]));
  expect(await database.count("cell.events", "quantity = 1")).toBe(1);
});

test("the service's role creates each partition once, even for concurrent calls, with all triggers", async () => {
  const database = await createDatabase();
  const ask = async (client: pg.Client): Promise<number> =>
    (await client.query("select cell.ensure_monthly_partitions(0, 6) as made")).rows[0].made;
  const clients = [await connectAsService(database), await connectAsService(database)];
  const made = await Promise.all(clients.map(ask));
  // Three months each of events, ledger and denials.
  expect(made.sort()).toEqual([0, 9]);

  const partitions = await database.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'cell.events'::regclass",
  );
  expect(partitions).toHaveLength(7);
  const statements = partitions.map(({ name }) => `truncate ${name}`);
  expect(await codesOf(await connectTo(database), statements)).toEqual(
    statements.map((statement) => [statement, APPEND_ONLY]),
  );
});

test("the partition job has nothing to do on a migrated database", async () => {
  const database = await createDatabase();
  const pool = openTestPool(database.serviceUrl);
  expect(await keepPartitions(pool)).toBe(0);
  await pool.end();
});

test("monthly partitions use UTC, whatever the time zone of the database is", async () => {
  const database = await createDatabase();
  const name = (await database.query("select current_database() as name"))[0]?.["name"];
  await database.query(`alter database ${name} set timezone = 'Asia/Kolkata'`);
  const service = await connectAsService(database);
  await service.query("select cell.ensure_monthly_partitions(0, 8)");
  await database.query("set timezone = 'UTC'");
  const bounds = await database.query(`
    select pg_get_expr(relpartbound, oid) as bound
    from pg_class
    where oid in (select inhrelid from pg_inherits where inhparent = 'cell.events'::regclass)`);
  expect(bounds).toHaveLength(9);
  const month = "'\\d{4}-\\d\\d-01 00:00:00\\+00'";
  for (const { bound } of bounds) expect(bound).toMatch(new RegExp(`FROM \\(${month}\\) TO \\(${month}\\)$`));
});
