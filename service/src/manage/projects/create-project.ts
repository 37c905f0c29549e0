import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { SCOPES } from "../../store/control/api-keys.ts";
import {
  findFirstWorkspace,
  insertEnvironment,
  insertProject,
  insertWorkspace,
} from "../../store/control/projects.ts";
import type { EnvironmentKind } from "../../words/api-key.ts";
import type { EnvironmentId, ProjectId } from "../../words/brand.ts";
import { type CreatedApiKey, createApiKey } from "../keys/create-api-key.ts";

export type CreatedEnvironment = { readonly environmentId: EnvironmentId; readonly key: CreatedApiKey };

export type CreatedProject = { readonly projectId: ProjectId } & Readonly<
  Record<EnvironmentKind, CreatedEnvironment>
>;

/** A project with both its environments and a key for each, in the workspace that is there or a first one. */
export function createProject(control: Pool, name: string): Promise<CreatedProject> {
  return transaction(control, async (tx) => {
    const workspaceId = (await findFirstWorkspace(tx)) ?? (await insertWorkspace(tx, "My workspace"));
    const projectId = await insertProject(tx, { workspaceId, name });
    const create = async (kind: EnvironmentKind): Promise<CreatedEnvironment> => {
      const environmentId = await insertEnvironment(tx, { projectId, kind });
      const key = await createApiKey(tx, {
        projectId,
        environmentId,
        kind,
        name: "First key",
        scopes: SCOPES,
      });
      return { environmentId, key };
    };
    return { projectId, test: await create("test"), live: await create("live") };
  });
}
