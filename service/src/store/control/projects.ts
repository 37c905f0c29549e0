import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import {
  describeRow,
  findRow,
  id,
  instant,
  integer,
  listRows,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../../primitives/brand.ts";
import type { EnvironmentKind } from "../../primitives/secret.ts";

const GET_FIRST_WORKSPACE = statement(
  "workspaces.get_first",
  "select id from control.workspaces order by id limit 1",
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

/** The workspace that a migration creates in every installation. */
export async function getFirstWorkspace(tx: Tx): Promise<number> {
  const { rows } = await tx.run(GET_FIRST_WORKSPACE);
  assert(rows[0] !== undefined, "an installation has a workspace");
  return readInteger(rows[0][0]);
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

const COUNT = statement("projects.count", "select count(*) from control.projects");

export async function countProjects(tx: Tx): Promise<number> {
  const { rows } = await tx.run(COUNT);
  return readInteger(rows[0]?.[0]);
}

const countValidKeys = (kind: EnvironmentKind): string => `(
    select count(*)
    from control.environments as e
    join control.api_keys as k on k.environment_id = e.id
    where e.project_id = p.id
      and e.kind = '${kind}'
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
  )`;

const PROJECT = describeRow({
  id: id<ProjectId>("p.id"),
  name: text("p.name"),
  createdAt: instant("p.created_at"),
  /** API keys that are neither revoked nor expired. */
  validKeys: describeRow({ test: integer(countValidKeys("test")), live: integer(countValidKeys("live")) }),
});

export type Project = RowOf<typeof PROJECT>;

const LIST = statement(
  "projects.list",
  `
  select ${PROJECT.list}
  from control.projects as p
  where p.workspace_id = $1
    and ($2::integer[] is null or p.id = any($2))
    and p.id > $3::bigint
  order by p.id
  limit $4`,
);

/** Lists projects of the workspace, oldest first. If `ids` is not null, lists only these projects. */
export function listProjects(
  tx: Tx,
  page: { workspaceId: number; ids: readonly ProjectId[] | null; after: number; limit: number },
): Promise<Project[]> {
  return listRows(tx, LIST, [page.workspaceId, page.ids, page.after, page.limit], PROJECT);
}

const FIND = statement(
  "projects.find",
  `select ${PROJECT.list} from control.projects as p where p.workspace_id = $1 and p.id = $2`,
);

/** A project and its workspace, so that no statement finds a project of another workspace. */
type ProjectPlace = { readonly workspaceId: number; readonly id: ProjectId };

export function findProject(tx: Tx, { workspaceId, id }: ProjectPlace): Promise<Project | null> {
  return findRow(tx, FIND, [workspaceId, id], PROJECT);
}

const LOCK_NAME = statement(
  "projects.lock_name",
  "select name from control.projects where workspace_id = $1 and id = $2 for update",
);

export async function lockProjectName(tx: Tx, { workspaceId, id }: ProjectPlace): Promise<string | null> {
  const { rows } = await tx.run(LOCK_NAME, [workspaceId, id]);
  return readNullable(rows[0]?.[0] ?? null, readText);
}

const RENAME = statement(
  "projects.rename",
  "update control.projects set name = $3 where workspace_id = $1 and id = $2",
);

export async function renameProject(
  tx: Tx,
  project: ProjectPlace & { readonly name: string },
): Promise<void> {
  await tx.run(RENAME, [project.workspaceId, project.id, project.name]);
}
