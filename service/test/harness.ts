import { randomBytes } from "node:crypto";
import pg from "pg";
import { expect, inject, onTestFinished } from "vitest";
import { readConfig } from "../src/config.ts";
import { openLog } from "../src/edge/log.ts";
import { type CreatedProject, createProject } from "../src/manage/projects/create-project.ts";
import { grantToService } from "../src/postgres/privileges.ts";
import { type Service, startService } from "../src/service.ts";
import { cloneDatabase, SERVICE_ROLE, TEMPLATE } from "./postgres.ts";
import { openTestPool, type SeededDatabase } from "./seed.ts";
import { isCounting, noteDatabase } from "./statements-run.ts";

export type TestDatabase = {
  /** Connects as the schema owner. */
  readonly url: string;
  /** Connects as the restricted role of the service. */
  readonly serviceUrl: string;
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  count(table: string, where?: string): Promise<number>;
};

const urlAs = (role: string, database: string): string =>
  `postgres://${role}@127.0.0.1:${inject("postgresPort")}/${database}`;

let server: pg.Pool | null = null;

/** Runs a statement on the server, over connections that all tests of a worker share. These connections do not keep the worker alive. */
async function onServer(statement: string): Promise<void> {
  if (server === null) {
    server = new pg.Pool({
      connectionString: urlAs("postgres", "postgres"),
      max: 2,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
    });
    server.on("error", () => {});
  }
  await server.query(statement);
}

/** Creates a database for one test, cloned in about 30 ms and dropped when the test ends. */
export async function createDatabase(
  template: SeededDatabase | PreparedDatabase | typeof TEMPLATE = TEMPLATE,
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await onServer(cloneDatabase({ name, template }));
  if (isCounting) await noteDatabase(urlAs("postgres", "postgres"), name, expect.getState().testPath ?? "");
  const client = new pg.Client(urlAs("postgres", name));
  client.on("error", () => {});
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await onServer(`drop database ${name} with (force)`);
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

/** A database that the tests of one file clone, and what its preparation returned. */
export type Prepared<T> = { readonly template: PreparedDatabase; readonly facts: T };
type PreparedDatabase = `prepared_${string}`;

/**
 * Prepares a database in the first test of a file, so that the other tests of the file start from a copy. `prepare` must stop the
 * service that it started.
 */
export function prepareOnce<T>(
  prepare: () => Promise<{ readonly database: TestDatabase; readonly facts: T }>,
): () => Promise<Prepared<T>> {
  const make = async (): Promise<Prepared<T>> => {
    const { database, facts } = await prepare();
    const source = new URL(database.url).pathname.slice(1);
    const template = `prepared_${source}` as const;
    // A database with connections cannot be cloned.
    await onServer(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${source}'`,
    );
    // The clone is never dropped, because later tests need it. It is deleted with the server.
    await onServer(cloneDatabase({ name: template, template: source }));
    return { template, facts };
  };
  let made: Promise<Prepared<T>> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Opens a separate connection, to hold locks and open transactions. */
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

/** Starts the whole service in this process, on a free port, with the restricted role. */
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

/** Grants the same privilege as `IDEMPOTENCY_DAYS=… purser migrate --grant-to`. */
export async function allowKeyDeletion(database: TestDatabase): Promise<void> {
  await grantToService(await connectTo(database), SERVICE_ROLE, { endsKeys: true });
}

export type Reply = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** Posts like a caller's backend. A string is sent unchanged. */
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

/** Creates a database and a project, and starts the service. `prepare` runs before the project is created. */
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

/** Starts the service on a copy of a seeded database, or of a database that `prepareOnce` prepared. */
export async function setupSeeded(
  template: SeededDatabase | PreparedDatabase,
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
