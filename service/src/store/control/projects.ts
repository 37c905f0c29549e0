import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../words/assert.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../words/brand.ts";
import type { EnvironmentKind } from "../../words/secret.ts";
import { readEnvironmentKind } from "./environment-kind.ts";
import type { Place } from "./places.ts";

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

/** The one that every installation has; a migration makes it. */
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

/** A project as people see one. */
export type Project = {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Instant;
  /** API keys that are neither revoked nor expired. */
  readonly validKeys: Readonly<Record<EnvironmentKind, number>>;
};

const countValidKeys = (kind: EnvironmentKind): string => `(
    select count(*)
    from control.environments as e
    join control.api_keys as k on k.environment_id = e.id
    where e.project_id = p.id
      and e.kind = '${kind}'
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
  )`;

const COLUMNS = `
  p.id,
  p.name,
  (extract(epoch from p.created_at) * 1000)::bigint,
  ${countValidKeys("test")},
  ${countValidKeys("live")}`;

function readProject([id, name, createdAt, test, live]: readonly unknown[]): Project {
  return {
    id: readInteger(id),
    name: readText(name),
    createdAt: readInstant(createdAt),
    validKeys: { test: readInteger(test), live: readInteger(live) },
  };
}

const LIST = statement(
  "projects.list",
  `
  select ${COLUMNS}
  from control.projects as p
  where p.workspace_id = $1
    and p.id > $2::bigint
  order by p.id
  limit $3`,
);

export async function listProjects(
  tx: Tx,
  page: { workspaceId: number; after: number; limit: number },
): Promise<Project[]> {
  const { rows } = await tx.run(LIST, [page.workspaceId, page.after, page.limit]);
  return rows.map(readProject);
}

const FIND = statement("projects.find", `select ${COLUMNS} from control.projects as p where p.id = $1`);

export async function findProject(tx: Tx, id: ProjectId): Promise<Project | null> {
  const { rows } = await tx.run(FIND, [id]);
  return rows[0] === undefined ? null : readProject(rows[0]);
}

const LOCK_NAME = statement(
  "projects.lock_name",
  "select name from control.projects where id = $1 for update",
);

export async function lockProjectName(tx: Tx, id: ProjectId): Promise<string | null> {
  const { rows } = await tx.run(LOCK_NAME, [id]);
  return readNullable(rows[0]?.[0] ?? null, readText);
}

const RENAME = statement("projects.rename", "update control.projects set name = $2 where id = $1");

export async function renameProject(tx: Tx, project: { id: ProjectId; name: string }): Promise<void> {
  await tx.run(RENAME, [project.id, project.name]);
}

const LIST_ENVIRONMENTS = statement(
  "environments.list",
  `
  select e.project_id, e.id, e.kind, p.cell
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
  order by e.id`,
);

/** All of a workspace's. */
export async function listEnvironments(tx: Tx, workspaceId: number): Promise<Place[]> {
  const { rows } = await tx.run(LIST_ENVIRONMENTS, [workspaceId]);
  return rows.map(([projectId, environmentId, kind, cell]) => ({
    projectId: brandAs<ProjectId>(readInteger(projectId)),
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    environment: readEnvironmentKind(kind),
    cell: readText(cell),
  }));
}
