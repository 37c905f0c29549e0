import { existsSync } from "node:fs";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../src/postgres/migrate.ts";
import { grantToService } from "../src/postgres/privileges.ts";
import { startTemporaryServer } from "./temporary-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresPort: number;
  }
}

export const TEMPLATE = "purser_template";
export const SERVICE_ROLE = "purser_service";

/** One real server for the whole run. `TEST_POSTGRES=15` takes the one that Debian's package installs. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const version = process.env["TEST_POSTGRES"] ?? "18";
  const server = await startTemporaryServer("test", {
    settings: ["max_connections=300", "max_prepared_transactions=10", "log_min_messages=fatal"],
    ...(version === "18" ? {} : { binDirectory: binariesOf(version) }),
  });
  await makeTemplate(server.url);
  project.provide("postgresPort", server.port);
  return () => server.stop();
}

function binariesOf(version: string): string {
  const directory = `/usr/lib/postgresql/${version}/bin`;
  if (!existsSync(directory)) throw new Error(`TEST_POSTGRES=${version}, but there is no ${directory}`);
  return directory;
}

/** The database that tests are cloned from, and the role of the service. */
export async function makeTemplate(url: (database: string) => string): Promise<void> {
  const server = new pg.Client(url("postgres"));
  await server.connect();
  await server.query(`create role ${SERVICE_ROLE} login`);
  await server.query(`create database ${TEMPLATE}`);
  await server.end();
  const template = new pg.Client(url(TEMPLATE));
  await template.connect();
  await migrate(template);
  await grantToService(template, SERVICE_ROLE, { endsKeys: false });
  await template.end();
}
