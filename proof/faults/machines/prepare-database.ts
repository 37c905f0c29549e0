import { grantToService } from "../../../service/src/postgres/privileges.ts";
import { withClient } from "../../harness/database.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { openProject, type Project } from "../../harness/project.ts";
import { CATALOG } from "../catalog.ts";

const SERVICE_ROLE = "purser_service";

/** Where the run takes place: everything but the processes, which come and go. */
export type Installation = {
  readonly ownerUrl: string;
  /** As the role a careful installation runs the service under: it may not rewrite history. */
  readonly serviceUrl: string;
  readonly project: Project;
};

export async function prepareDatabase(postgres: PostgresServer): Promise<Installation> {
  await postgres.query("postgres", `create role ${SERVICE_ROLE} login`);
  const { name, url: ownerUrl } = await postgres.createDatabase("purser");
  const project = await openProject(ownerUrl, CATALOG);
  await withClient(ownerUrl, (client) => grantToService(client, SERVICE_ROLE, { endsKeys: false }));
  return { ownerUrl, serviceUrl: postgres.url(name, SERVICE_ROLE), project };
}
