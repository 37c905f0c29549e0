import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import type { EnvironmentKind } from "../../primitives/secret.ts";
import { SCOPES_DEFAULT } from "../../store/control/api-keys.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { lockMembership } from "../../store/control/members.ts";
import {
  countProjects,
  getFirstWorkspace,
  insertEnvironment,
  insertProject,
} from "../../store/control/projects.ts";
import { auditCreatedKey, type CreatedApiKey, createApiKey } from "../keys/create-api-key.ts";

export type CreatedEnvironment = { readonly environmentId: EnvironmentId; readonly key: CreatedApiKey };

export type CreatedProject = { readonly projectId: ProjectId } & Readonly<
  Record<EnvironmentKind, CreatedEnvironment>
>;

export type ProjectInput = { readonly workspaceId: number; readonly name: string; readonly actor: Actor };

const COMMAND: Actor = { kind: "command", id: "purser create-project", requestId: null };

/** Creates a project in the first workspace, with a test and a live environment and an API key for each. */
export function createProject(control: Pool, name: string, actor = COMMAND): Promise<CreatedProject> {
  return transaction(control, async (tx) => {
    const workspaceId = await getFirstWorkspace(tx);
    return createProjectIn(tx, { workspaceId, name, actor });
  });
}

export async function createProjectIn(tx: Tx, input: ProjectInput): Promise<CreatedProject> {
  const projectId = await insertBareProject(tx, input);
  const create = async (kind: EnvironmentKind): Promise<CreatedEnvironment> => {
    const environmentId = await insertEnvironment(tx, { projectId, kind });
    return { environmentId, key: await createFirstKey(tx, input.actor, { projectId, environmentId, kind }) };
  };
  return { projectId, test: await create("test"), live: await create("live") };
}

/** Creates the first project with the given API key, for unattended installations. False if a project already exists. */
export function createFirstProject(control: Pool, name: string, secret: string): Promise<boolean> {
  return transaction(control, async (tx) => {
    const workspaceId = await getFirstWorkspace(tx);
    // Several processes may start at the same time. Only one of them creates the project.
    await lockMembership(tx);
    if ((await countProjects(tx)) > 0) return false;
    const actor: Actor = { kind: "system", id: null, requestId: null };
    const projectId = await insertBareProject(tx, { workspaceId, name, actor });
    for (const kind of ["test", "live"] as const) {
      const environmentId = await insertEnvironment(tx, { projectId, kind });
      if (!secret.startsWith(`pur_${kind}_`)) continue;
      await createFirstKey(tx, actor, { projectId, environmentId, kind }, secret);
    }
    return true;
  });
}

async function insertBareProject(tx: Tx, { workspaceId, name, actor }: ProjectInput): Promise<ProjectId> {
  const projectId = await insertProject(tx, { workspaceId, name });
  await insertControlAudit(tx, {
    workspaceId,
    actor,
    action: "project.created",
    subject: name,
    before: null,
    after: { id: String(projectId), name },
  });
  return projectId;
}

async function createFirstKey(
  tx: Tx,
  actor: Actor,
  where: { projectId: ProjectId; environmentId: EnvironmentId; kind: EnvironmentKind },
  secret?: string,
): Promise<CreatedApiKey> {
  const name = where.kind === "live" ? "Live key" : "Test key";
  const input = { ...where, name, scopes: SCOPES_DEFAULT, createdBy: actor };
  const key = await createApiKey(tx, input, secret);
  await auditCreatedKey(tx, actor, key);
  return key;
}
