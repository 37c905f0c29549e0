import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { freePort } from "../src/postgres/free-port.ts";
import { startLocalServer } from "../src/postgres/local-server.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { grantToService } from "../src/postgres/privileges.ts";

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
  const directory = await mkdtemp(join(tmpdir(), "purser-test-"));
  execFileSync("chmod", ["755", directory]);
  const port = await freePort();
  const server = await startLocalServer({
    dataDirectory: join(directory, "data"),
    port,
    settings: ["max_connections=300", "max_prepared_transactions=10", "log_min_messages=fatal"],
    ...(version === "18" ? {} : { binDirectory: binariesOf(version) }),
  });
  await makeTemplate(server.url);
  project.provide("postgresPort", port);
  return async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

function binariesOf(version: string): string {
  const directory = `/usr/lib/postgresql/${version}/bin`;
  if (!existsSync(directory)) throw new Error(`TEST_POSTGRES=${version}, but there is no ${directory}`);
  return directory;
}

async function makeTemplate(url: (database: string) => string): Promise<void> {
  const server = new pg.Client(url("postgres"));
  await server.connect();
  await server.query(`create role ${SERVICE_ROLE} login`);
  await server.query(`create database ${TEMPLATE}`);
  await server.end();
  const template = new pg.Client(url(TEMPLATE));
  await template.connect();
  await migrate(template);
  await grantToService(template, SERVICE_ROLE);
  await template.end();
}
