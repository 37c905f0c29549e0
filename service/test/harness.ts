import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { readConfig } from "../src/config.ts";
import { openLog } from "../src/edge/log.ts";
import { type CreatedProject, createProject } from "../src/manage/projects/create-project.ts";
import { grantToService } from "../src/postgres/privileges.ts";
import { type Service, startService } from "../src/service.ts";
import { onServer, SERVICE_ROLE, TEMPLATE } from "./postgres.ts";
import { openTestPool, type SeededDatabase } from "./seed.ts";

export type TestDatabase = {
  /** As the owner of the schemas. */
  readonly url: string;
  /** As the role a careful installation runs the service under. */
  readonly serviceUrl: string;
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  count(table: string, where?: string): Promise<number>;
};

/** A database of its own for the test that asks, cloned in about 30 ms and dropped at its end. */
export async function createDatabase(
  template: SeededDatabase | typeof TEMPLATE = TEMPLATE,
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const urlAs = (role: string, database: string): string =>
    `postgres://${role}@127.0.0.1:${inject("postgresPort")}/${database}`;
  await onServer(urlAs("postgres", "postgres"), `create database ${name} template ${template}`);
  const client = new pg.Client(urlAs("postgres", name));
  client.on("error", () => {});
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await onServer(urlAs("postgres", "postgres"), `drop database ${name} with (force)`);
  });
  const query = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
  return {
    url: urlAs("postgres", name),
    serviceUrl: urlAs(SERVICE_ROLE, name),
    query,
    count: async (table, where = "true") =>
      Number((await query(`select count(*)::integer as n from ${table} where ${where}`))[0]?.["n"]),
  };
}

/** A connection of the test's own, to hold locks and open transactions with. */
export async function connectTo(database: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export async function createTestProject(
  database: TestDatabase,
  name = "Test product",
): Promise<CreatedProject> {
  const pool = openTestPool(database.url);
  try {
    return await createProject(pool, name);
  } finally {
    await pool.end();
  }
}

/** The whole service in this process, on a port of its own, under the role that may not rewrite history. */
export async function startTestService(
  database: TestDatabase,
  overrides: Record<string, string> = {},
): Promise<Service> {
  if ("IDEMPOTENCY_DAYS" in overrides) await allowKeyDeletion(database);
  const config = readConfig({
    DATABASE_URL: database.serviceUrl,
    PORT: "0",
    METRICS_PORT: "0",
    LOG_LEVEL: "silent",
    ...overrides,
  });
  const service = await startService(config, openLog(config.logLevel));
  onTestFinished(() => service.stop());
  return service;
}

/** As `IDEMPOTENCY_DAYS=… purser migrate --grant-to` does. */
export async function allowKeyDeletion(database: TestDatabase): Promise<void> {
  await grantToService(await connectTo(database), SERVICE_ROLE, { endsKeys: true });
}

export type Reply = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** Posts to the service as a caller's backend would. A string is sent as it is. */
export async function post(
  url: string,
  key: string | null,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? {} : JSON.parse(text),
  };
}

export type Setup = {
  readonly database: TestDatabase;
  readonly service: Service;
  readonly project: CreatedProject;
  /** Posts an event with the test key. */
  record(body: unknown, headers?: Record<string, string>): Promise<Reply>;
};

/** What most tests need: a database, a project and the service. `prepare` and a database of one's own come before the project. */
export async function setup(
  overrides: Record<string, string> = {},
  prepare?: (database: TestDatabase) => Promise<void>,
  ownDatabase?: TestDatabase,
): Promise<Setup> {
  if (prepare === undefined && ownDatabase === undefined) return setupSeeded("purser_project", overrides);
  const database = ownDatabase ?? (await createDatabase());
  await prepare?.(database);
  return startOn(database, await createTestProject(database), overrides);
}

/** The service on what was prepared once for all tests. */
export async function setupSeeded(
  template: SeededDatabase,
  overrides: Record<string, string>,
): Promise<Setup> {
  return startOn(await createDatabase(template), inject("seeded").project, overrides);
}

async function startOn(
  database: TestDatabase,
  project: CreatedProject,
  overrides: Record<string, string>,
): Promise<Setup> {
  const service = await startTestService(database, overrides);
  return {
    database,
    service,
    project,
    record: (body, headers) => post(`${service.url}/v1/events`, project.test.key.secret, body, headers),
  };
}
