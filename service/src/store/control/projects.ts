import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentKind } from "../../words/api-key.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../../words/brand.ts";

const FIND_WORKSPACE = statement(
  "workspaces.find_first",
  "select id from control.workspaces order by id limit 1",
);

const INSERT_WORKSPACE = statement(
  "workspaces.insert",
  `
  insert into control.workspaces (name)
  values ($1)
  returning id`,
);

const INSERT_PROJECT = statement(
  "projects.insert",
  `
  insert into control.projects (workspace_id, name)
  values ($1, $2)
  returning id`,
);

const INSERT_ENVIRONMENT = statement(
  "environments.insert",
  `
  insert into control.environments (project_id, kind)
  values ($1, $2)
  returning id`,
);

export async function findFirstWorkspace(tx: Tx): Promise<number | null> {
  const { rows } = await tx.run(FIND_WORKSPACE);
  return rows[0] === undefined ? null : readInteger(rows[0][0]);
}

export async function insertWorkspace(tx: Tx, name: string): Promise<number> {
  const { rows } = await tx.run(INSERT_WORKSPACE, [name]);
  return readInteger(rows[0]?.[0]);
}

export async function insertProject(
  tx: Tx,
  project: { workspaceId: number; name: string },
): Promise<ProjectId> {
  const { rows } = await tx.run(INSERT_PROJECT, [project.workspaceId, project.name]);
  return brandAs<ProjectId>(readInteger(rows[0]?.[0]));
}

export async function insertEnvironment(
  tx: Tx,
  environment: { projectId: ProjectId; kind: EnvironmentKind },
): Promise<EnvironmentId> {
  const { rows } = await tx.run(INSERT_ENVIRONMENT, [environment.projectId, environment.kind]);
  return brandAs<EnvironmentId>(readInteger(rows[0]?.[0]));
}
