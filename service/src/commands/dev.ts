import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { readConfig } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { type DevelopmentAccess, openDevelopment } from "../manage/people/development-owner.ts";
import { createProject } from "../manage/projects/create-project.ts";
import { freePort } from "../postgres/free-port.ts";
import { type LocalServer, startLocalServer } from "../postgres/local-server.ts";
import type { CustomerId } from "../primitives/brand.ts";
import { startService } from "../service.ts";
import { connect, withPool } from "./connect.ts";
import { DEMO_FEATURE, findDemoCustomer, seedDemo } from "./demo/seed-demo.ts";
import { migrateCommand } from "./migrate.ts";
import { stopOnSignal } from "./serve.ts";

export type DevOptions = {
  /** If null, the port is PORT, or 3300 if PORT is not set. */
  port: number | null;
  json: boolean;
  directory: string;
  /** Whether the first start inserts the demo into the test environment. */
  demo: boolean;
  print: (line: string) => void;
};

type Keys = { test: string; live: string };

/** Starts a local PostgreSQL, creates a project with keys, and serves. */
export async function devCommand(options: DevOptions): Promise<void> {
  await refuseUsedPort(options);
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true });
  progress(options, "Starting PostgreSQL …");
  const portFile = join(directory, "postgres-port");
  const postgres = await startLocalServer({
    dataDirectory: join(directory, "postgres"),
    // Reuses the port of the last start if it is free, so that a saved database URL remains valid.
    port: await freePort(Number(await readFile(portFile, "utf8").catch(() => "0"))),
    passwordFile: join(directory, "postgres-password"),
  });
  await writeFile(portFile, new URL(postgres.url("postgres")).port);
  try {
    await serveFrom(postgres, directory, options);
  } catch (error) {
    // The start failed, for example because a port is in use. Leave nothing running.
    await postgres.stop();
    throw error;
  }
}

/** Runs before PostgreSQL starts, because the check is faster and another `purser dev` may be using the data. */
async function refuseUsedPort({ port }: DevOptions): Promise<void> {
  // A placeholder URL, because the database is not running yet.
  const config = readConfig({ DATABASE_URL: "postgres://127.0.0.1/purser", PUBLIC_URL: "" });
  const server = createServer().listen(port ?? config.port, config.host);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/** Prints progress, because the first start takes up to a minute. */
function progress({ json, print }: DevOptions, line: string): void {
  if (!json) print(line);
}

async function serveFrom(postgres: LocalServer, directory: string, options: DevOptions): Promise<void> {
  progress(options, "Migrating the database …");
  const databaseUrl = await prepareDatabase(postgres);
  const keys = await readOrCreateKeys(join(directory, "keys.json"), databaseUrl, options);
  const demoCustomer = await withPool(databaseUrl, (pool) => findDemoCustomer(pool, keys.test));

  const usual = readConfig({ DATABASE_URL: databaseUrl });
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    // A second `purser dev` gets another port for its metrics.
    METRICS_PORT: String(await freePort(usual.metricsPort)),
    // PUBLIC_URL may belong to another installation. The links and commands that `purser dev` prints must point to this machine.
    PUBLIC_URL: "",
    // A backend under development receives webhooks on this machine.
    WEBHOOK_TARGETS: "any",
    ...(options.port === null ? {} : { PORT: String(options.port) }),
  });
  const log = openLog(options.json ? "silent" : "warn", { stacks: false });
  const service = await startService(config, log);
  stopOnSignal(service, log, () => postgres.stop());
  const { url, metricsUrl } = service;
  // Runs after the start. A process that cannot bind its port must not invalidate the login link of the running process.
  const { access, signInPath } = await readOrCreateAccess(join(directory, "owner.json"), databaseUrl);
  const ready: Ready = { url, metricsUrl, keys, databaseUrl, ...access, signIn: `${url}${signInPath}` };
  options.print(
    options.json
      ? JSON.stringify({ ready: true, ...ready })
      : describeStart({ ...ready, directory: options.directory, demoCustomer }),
  );
}

async function prepareDatabase(postgres: LocalServer): Promise<string> {
  const client = await connect(postgres.url("postgres"));
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'purser'");
    if (rowCount === 0) await client.query("create database purser");
  } finally {
    await client.end();
  }
  const databaseUrl = postgres.url("purser");
  await migrateCommand({ databaseUrl, grantTo: null, finish: true, print: () => {} });
  return databaseUrl;
}

/** The database stores only hashes of keys, so the development keys are kept in a file for the next start. */
async function readOrCreateKeys(file: string, databaseUrl: string, options: DevOptions): Promise<Keys> {
  const stored = await readFile(file, "utf8").catch(() => null);
  if (stored !== null) return JSON.parse(stored);
  const actor = { kind: "command", id: "purser dev", requestId: null } as const;
  const { projectId, test, live } = await withPool(databaseUrl, (pool) =>
    createProject(pool, "My product", actor),
  );
  if (options.demo) {
    progress(options, "Creating the demo: 40 customers with two months of history …");
    await seedDemo(databaseUrl, { projectId, environmentId: test.environmentId });
  }
  const keys = { test: test.key.secret, live: live.key.secret };
  await writeFile(file, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  return keys;
}

/** The owner's credentials are also kept in a file. Each start creates a new login link. */
async function readOrCreateAccess(
  file: string,
  databaseUrl: string,
): Promise<{ access: DevelopmentAccess; signInPath: string }> {
  const stored = await readFile(file, "utf8").catch(() => null);
  const opened = await withPool(databaseUrl, (pool) =>
    openDevelopment(pool, stored === null ? null : JSON.parse(stored)),
  );
  await writeFile(file, `${JSON.stringify(opened.access, null, 2)}\n`, { mode: 0o600 });
  return opened;
}

type Ready = DevelopmentAccess & {
  readonly url: string;
  readonly metricsUrl: string;
  readonly keys: Keys;
  readonly databaseUrl: string;
  readonly signIn: string;
};

function describeStart(ready: Ready & { directory: string; demoCustomer: CustomerId | null }): string {
  const { url, metricsUrl, keys, databaseUrl, owner, managementToken, signIn, directory, demoCustomer } =
    ready;
  const curl = (path: string, body: object): string => `curl ${url}${path} \\
  -H 'Authorization: Bearer ${keys.test}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'
`;
  const firstEvent = curl("/v1/events", {
    customerId: "customer_42",
    event: "tokens.generated",
    quantity: 1250,
    idempotencyKey: "first-event",
  });
  return `
Purser is ready at ${url}

Dashboard       ${signIn}
                (works once; then log in as ${owner.email} with password ${owner.password})
Documentation   ${url}/docs/
Metrics         ${metricsUrl}/metrics

Test key        ${keys.test}
Live key        ${keys.live}
Management      ${managementToken}
Database        ${databaseUrl}

Record your first usage event:

${firstEvent}${demoCustomer === null ? "" : inviteToConsume(curl, demoCustomer)}
Data is kept in ${directory}. Stop with Ctrl+C.
`;
}

function inviteToConsume(curl: (path: string, body: object) => string, customerId: CustomerId): string {
  const body = { customerId, feature: DEMO_FEATURE, quantity: 1, idempotencyKey: "first-consume" };
  return `
The test environment contains a demo: a catalog, 40 customers and two months of history. Charge one of them:

${curl("/v1/consume", body)}`;
}
