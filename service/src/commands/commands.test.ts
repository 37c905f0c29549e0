import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../test/credits.ts";
import { createDatabase } from "../../test/harness.ts";
import { SERVICE_ROLE } from "../../test/postgres.ts";
import { type Ended, runPurser } from "../../test/purser.ts";
import { startTemporaryServer } from "../../test/temporary-server.ts";
import { readConfig, SETTINGS } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { formatUuid, uuidV7 } from "../primitives/uuid.ts";
import { describeCheckpoints, doctorCommand } from "./doctor.ts";
import { describeCommand } from "./help.ts";
import { migrateCommand } from "./migrate.ts";
import { refuseUnsafeDatabase } from "./serve.ts";

const purser = (args: string[], databaseUrl = "", more: Record<string, string> = {}): Promise<Ended> =>
  runPurser(args, { DATABASE_URL: databaseUrl, ...more });

test("help lists every command, and a command's help shows only that command's settings", async () => {
  const { code, stdout } = await purser(["help"]);
  expect(code).toBe(0);
  for (const word of ["dev", "migrate", "serve", "create-project", "revoke-key", "doctor", "openapi"]) {
    expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, "m"));
  }
  const helped = `${describeCommand("serve")}${describeCommand("catalog")}`;
  for (const setting of Object.keys(SETTINGS)) expect(helped).toMatch(new RegExp(`^  ${setting} `, "m"));
  const doctor = await purser(["doctor", "--help"]);
  expect(doctor.stdout).toMatch(/^purser doctor\n/);
  expect(doctor.stdout).toContain("DATABASE_URL ");
  expect(doctor.stdout).not.toMatch(/TLS_CERT_FILE|--ordinal/);
});

test.each([
  [["sail"], 2, 'unknown command "sail"\nTry: purser help\n'],
  [["create-project"], 2, "takes exactly one argument\nTry: purser create-project --help\n"],
  [["doctor", "please"], 2, "unexpected argument: please"],
  [["serve", "--fast"], 2, "purser: unknown option --fast\nTry: purser serve --help\n"],
  [["catalog", "export", "--check"], 2, "catalog does not accept --check\nTry: purser catalog --help\n"],
  [["migrate"], 1, "DATABASE_URL must be set"],
])("purser %j reports the error", async (args, code, message) => {
  const result = await purser(args);
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(message);
});

test("doctor passes on a healthy database and fails without migrations", async () => {
  const database = await createDatabase();
  const healthy = await purser(["doctor"], database.url);
  expect(healthy.stdout).toContain("migrations: current");
  expect(healthy.stdout).toContain("connection: not encrypted, but local");
  expect(healthy.stdout).toMatch(/ok +checkpoints: checkpoint_timeout is \d+\w+, max_wal_size \d+\w+\n/);
  expect(healthy.code).toBe(0);
  await database.query("drop schema cell cascade");
  const broken = await purser(["doctor"], database.url);
  expect(broken.stdout).toMatch(/FAILURE migrations: \d+ missing/);
  expect(broken.stdout).toContain("partitions are missing: run purser migrate");
  expect(broken.code).toBe(1);
});

test("doctor recommends less frequent checkpoints for a large database", () => {
  const GB = 2 ** 30;
  const usual = { timeout: "5min", seconds: 300, wal: "1GB", walBytes: GB, databaseBytes: 50 * GB };
  expect(describeCheckpoints(usual)).toMatchObject({
    level: "warning",
    text: expect.stringContaining("is 5min, max_wal_size 1GB: raise them to at least 15min and 16GB "),
  });
  expect(describeCheckpoints({ ...usual, databaseBytes: 9 * GB }).level).toBe("ok");
  expect(describeCheckpoints({ ...usual, seconds: 900, walBytes: 16 * GB }).level).toBe("ok");
  expect(describeCheckpoints({ ...usual, seconds: 900 }).level).toBe("warning");
  expect(describeCheckpoints({ ...usual, walBytes: 16 * GB }).level).toBe("warning");
});

test("doctor recommends time-ordered idempotency keys if many random ones are stored", async () => {
  const { database, consume, topUp } = await setupCredits();
  await topUp("ada", 200);
  const diagnose = async (): Promise<string | undefined> => {
    const printed: string[] = [];
    await doctorCommand({ databaseUrl: database.url, print: (line) => printed.push(line) });
    return printed.find((line) => line.includes(" idempotency keys: "));
  };
  const charge = (keys: readonly string[]) =>
    Promise.all(
      keys.map((idempotencyKey) => consume({ customerId: "ada", feature: "text.generate", idempotencyKey })),
    );
  await charge(Array.from({ length: 100 }, () => randomUUID()));
  expect(await diagnose()).toBeUndefined();
  await database.query("update pg_class set reltuples = 2e6 where relname like 'keyed_requests__'");
  expect(await diagnose()).toContain("warning idempotency keys: 0 of the last 100 charges have a UUIDv7");
  await charge(Array.from({ length: 100 }, () => formatUuid(uuidV7(brandAs<Instant>(Date.now())))));
  expect(await diagnose()).toContain("ok      idempotency keys: 100 of the last 200 charges have a UUIDv7");
});

test("doctor names the missing search index and the file that builds it", async () => {
  const database = await createDatabase();
  await database.query("drop index if exists cell.customers_search");
  const diagnose = async (): Promise<string> => {
    const printed: string[] = [];
    expect(await doctorCommand({ databaseUrl: database.url, print: (line) => printed.push(line) })).toBe(
      true,
    );
    return printed.find((line) => line.includes(" search: ")) ?? "";
  };
  const [, file = ""] = /psql "\$DATABASE_URL" -f (.+\.sql)$/.exec(await diagnose()) ?? [];
  await database.query(await readFile(file, "utf8"));
  const [found] = await database.query(
    "select count(*) as count from pg_extension where extname = 'pg_trgm'",
  );
  expect((await diagnose()) === "").toBe(found?.["count"] === "1");
});

test("with IDEMPOTENCY_DAYS, serve and doctor report the missing privilege, and migrate grants it", async () => {
  const database = await createDatabase();
  const printed: string[] = [];
  const print = (line: string): number => printed.push(line);
  const serve = () => {
    const config = readConfig({ DATABASE_URL: database.serviceUrl, IDEMPOTENCY_DAYS: "40" });
    return refuseUnsafeDatabase(config, openLog("silent"));
  };
  const examine = (idempotencyDays: number | null) =>
    doctorCommand({ databaseUrl: database.serviceUrl, idempotencyDays, print });
  const grant = (idempotencyDays: number | null) =>
    migrateCommand({ databaseUrl: database.url, grantTo: SERVICE_ROLE, idempotencyDays, print });
  const sentence =
    "not allowed to delete keys; as the database owner, run: IDEMPOTENCY_DAYS=40 purser migrate --grant-to";

  await expect(serve()).rejects.toThrow(sentence);
  expect([await examine(40), await examine(null)]).toEqual([false, true]);
  expect(printed.join("\n")).toContain(sentence);
  await grant(40);
  expect(printed.at(-1)).toContain("may delete expired keys");
  await serve();
  expect(await examine(40)).toBe(true);
  await grant(null);
  expect(printed.at(-1)).toContain("is not allowed to delete keys");
  expect(await examine(40)).toBe(false);
});

test("serve rejects a database with a missing migration", async () => {
  const database = await createDatabase();
  await database.query(
    "delete from cell.migrations where number = (select max(number) from cell.migrations)",
  );
  const result = await purser(["serve"], database.url);
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("migrations: 1 missing: run purser migrate");
});

test.each([
  [{ INIT_API_KEY: "pur_live_mine" }, "INIT_API_KEY must be a key in Purser's format"],
  [{ INIT_OWNER_EMAIL: "boss@example.com" }, "INIT_OWNER_EMAIL and INIT_OWNER_PASSWORD must be set together"],
  [{ INIT_OWNER_EMAIL: "boss@example.com", INIT_OWNER_PASSWORD: "short-one" }, "12 to 200 characters, not 9"],
  [{ INIT_OWNER_EMAIL: "boss@example.com", INIT_OWNER_PASSWORD: "Password1234!" }, "is easy to guess"],
  [{ INIT_OWNER_EMAIL: "boss", INIT_OWNER_PASSWORD: "seven-green-kettles" }, "must be an email address"],
])("serve rejects invalid initial settings: %j", async (settings, message) => {
  const database = await createDatabase();
  const result = await purser(["serve"], database.url, settings);
  expect(result.code).toBe(1);
  expect(result.stderr).toContain(message);
  for (const secret of ["pur_live_mine", "short-one", "Password1234!", "seven-green-kettles"])
    expect(result.stderr).not.toContain(secret);
  expect(await database.count("control.members")).toBe(0);
});

test("serve rejects a database server that could lose acknowledged requests", async () => {
  const server = await startTemporaryServer("unsafe", { settings: ["fsync=off"] });
  onTestFinished(() => server.stop());
  await purser(["migrate"], server.url("postgres"));
  const result = await purser(["serve"], server.url("postgres"));
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("fsync: off: turn it on, or a crash can lose acknowledged requests");
});
