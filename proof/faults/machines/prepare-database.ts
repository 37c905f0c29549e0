import pg from "pg";
import { createProject } from "../../../service/src/manage/projects/create-project.ts";
import { migrate } from "../../../service/src/postgres/migrate.ts";
import { openPool } from "../../../service/src/postgres/pool.ts";
import { grantToService } from "../../../service/src/postgres/privileges.ts";
import type { Installation } from "./installation.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { sellCatalog } from "./sell-catalog.ts";

const DATABASE = "purser";
const SERVICE_ROLE = "purser_service";

export async function prepareDatabase(postgres: PostgresServer): Promise<Installation> {
  await withClient(postgres.url("postgres", "postgres"), async (client) => {
    await client.query(`create role ${SERVICE_ROLE} login`);
    await client.query(`create database ${DATABASE}`);
  });
  const ownerUrl = postgres.url("postgres", DATABASE);
  await withClient(ownerUrl, async (client) => {
    await migrate(client);
    await grantToService(client, SERVICE_ROLE, { endsKeys: false });
  });
  const pool = openPool({ url: ownerUrl, name: "purser faults", sizeMax: 1, onIdleError: () => {} });
  try {
    const { projectId, test } = await createProject(pool, "Faults");
    const actor = { kind: "command", id: null, requestId: null } as const;
    const context = { projectId, environmentId: test.environmentId, actor };
    await sellCatalog(pool, context);
    const serviceUrl = postgres.url(SERVICE_ROLE, DATABASE);
    return { ownerUrl, serviceUrl, secret: test.key.secret, context };
  } finally {
    await pool.end();
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
