import { existsSync, writeFileSync } from "node:fs";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../src/postgres/migrate.ts";
import { grantToService } from "../src/postgres/privileges.ts";
import { type Seeded, seedDatabases } from "./seed.ts";
import { COUNTING, isCounting, listStatementsRun, startCounting } from "./statements-run.ts";
import { startTemporaryServer } from "./temporary-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresPort: number;
    seeded: Seeded;
  }
}

export const TEMPLATE = "purser_template";
export const SERVICE_ROLE = "purser_service";

/**
 * Starts one real server for the whole run. `TEST_POSTGRES=15` uses version 15 from Debian's package. With `EVERY_STATEMENT=1`, the
 * run fails if a statement of the store never ran. Add `STATEMENTS_RUN=FILE` to list the test files that ran each statement.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const version = process.env["TEST_POSTGRES"] ?? "18";
  const server = await startTemporaryServer("test", {
    settings: [
      "max_connections=300",
      "max_prepared_transactions=10",
      "log_min_messages=fatal",
      ...(isCounting ? COUNTING : []),
    ],
    ...(version === "18" ? {} : { binDirectory: binariesOf(version) }),
  });
  if (isCounting) await startCounting(server.url("postgres"));
  await makeTemplate(server.url);
  const clone = (name: string, template: string) =>
    onServer(server.url("postgres"), cloneDatabase({ name, template }));
  project.provide("postgresPort", server.port);
  project.provide("seeded", await seedDatabases(server.url, clone, TEMPLATE));
  return async () => {
    const statements = isCounting ? await listStatementsRun(server.url("postgres")) : [];
    await server.stop();
    const report = process.env["STATEMENTS_RUN"];
    if (report !== undefined) writeFileSync(report, JSON.stringify(statements));
    const missing = statements.filter(({ files }) => files.length === 0).map(({ name }) => name);
    if (missing.length > 0) throw new Error(`no test ran these statements: ${missing.join(", ")}`);
  };
}

function binariesOf(version: string): string {
  const directory = `/usr/lib/postgresql/${version}/bin`;
  if (!existsSync(directory)) throw new Error(`TEST_POSTGRES=${version}, but ${directory} does not exist`);
  return directory;
}

/** Creates the template of test databases and the role of the service. */
export async function makeTemplate(url: (database: string) => string): Promise<void> {
  await onServer(url("postgres"), `create role ${SERVICE_ROLE} login`);
  await onServer(url("postgres"), `create database ${TEMPLATE}`);
  const template = new pg.Client(url(TEMPLATE));
  await template.connect();
  await migrate(template);
  await grantToService(template, SERVICE_ROLE, { endsKeys: false });
  await template.end();
}

/** The statement that copies the template's files, which takes half the time of the default: writing every page to the WAL. */
export function cloneDatabase({ name, template }: Readonly<Record<"name" | "template", string>>): string {
  return `create database ${name} template ${template} strategy file_copy`;
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}
