import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import type { TestDatabase } from "./harness.ts";
import { makeTemplate, SERVICE_ROLE, TEMPLATE } from "./postgres.ts";
import { startTemporaryServer, type TemporaryServer } from "./temporary-server.ts";

export type OwnServer = TemporaryServer & { readonly database: TestDatabase };

/** Starts a migrated database on a separate server, for crashes, standbys and poolers. */
export async function startOwnServer(settings: readonly string[] = []): Promise<OwnServer> {
  const server = await startTemporaryServer("own", {
    binDirectory: await binariesOfTheTestServer(),
    settings: ["log_min_messages=fatal", ...settings],
  });
  onTestFinished(() => server.stop());
  await makeTemplate(server.url);
  return { ...server, database: databaseOn(server) };
}

export type Standby = {
  readonly server: TemporaryServer;
  readonly database: TestDatabase;
  /** Stops replication. The standby still serves reads. */
  cutOff(): Promise<void>;
};

/**
 * Starts a standby that streams from the primary. Copies the data of the stopped primary, which works with all PostgreSQL versions.
 */
export async function startStandby(primary: TemporaryServer, name: string): Promise<Standby> {
  const binDirectory = await binariesOfTheTestServer();
  await primary.crash();
  const server = await startTemporaryServer("standby", {
    binDirectory,
    settings: ["log_min_messages=fatal", "hot_standby=on", "wal_retrieve_retry_interval=100ms"],
    async fill(dataDirectory) {
      // Keeps the owner of the files, because the server runs as that user.
      await promisify(execFile)("cp", ["-a", primary.dataDirectory, dataDirectory]);
      await rm(join(dataDirectory, "postmaster.pid"), { force: true });
      const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`;
      await writeFile(join(dataDirectory, "standby.signal"), "");
      await writeFile(join(dataDirectory, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
      await primary.restart();
    },
  });
  onTestFinished(() => server.stop());
  const database = databaseOn(server);
  return {
    server,
    database,
    async cutOff() {
      await database.query("alter system set primary_conninfo = ''");
      await database.query("select pg_reload_conf()");
    },
  };
}

/** Opens a connection for each query, so that queries work after the server has crashed. */
function databaseOn(server: TemporaryServer): TestDatabase {
  const url = server.url(TEMPLATE);
  const query: TestDatabase["query"] = async (text, values = []) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      // The test's own statements must not wait for a standby.
      await client.query("set synchronous_commit = local");
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url,
    serviceUrl: url.replace("postgres@", `${SERVICE_ROLE}@`),
    query,
    count: async (table, where = "true") =>
      Number((await query(`select count(*)::integer as n from ${table} where ${where}`))[0]?.["n"]),
  };
}

/** Finds the binaries of the PostgreSQL version that all tests use. */
export async function binariesOfTheTestServer(): Promise<string> {
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${inject("postgresPort")}/postgres`);
  await client.connect();
  const { rows } = await client.query("select setting from pg_config where name = 'BINDIR'");
  await client.end();
  return rows[0].setting;
}
