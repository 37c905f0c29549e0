import {
  column,
  describeRow,
  findRow,
  id,
  listRows,
  type Part,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import type { EnvironmentKind } from "../../primitives/secret.ts";

export function environmentKind(sql: string): Part<EnvironmentKind> {
  return column(readEnvironmentKind, sql);
}

export function readEnvironmentKind(value: unknown): EnvironmentKind {
  assert(value === "test" || value === "live", "an environment is test or live");
  return value;
}

const SCOPE = {
  projectId: id<ProjectId>("p.id"),
  environmentId: id<EnvironmentId>("e.id"),
  environment: environmentKind("e.kind"),
  cell: text("p.cell"),
};
const SCOPE_ROW = describeRow(SCOPE);
const NAMED_SCOPE_ROW = describeRow({ ...SCOPE, projectName: text("p.name") });

/** A project's environment and its cell. */
export type Scope = RowOf<typeof SCOPE_ROW>;

/** A scope with the project's name. */
export type NamedScope = RowOf<typeof NAMED_SCOPE_ROW>;

const FIND = statement(
  "scopes.find",
  `
  select ${SCOPE_ROW.list}
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
    and p.id = $2
    and e.kind = $3`,
);

/** Finds an environment of a project. Null if the workspace has no such project. */
export function findScope(
  tx: Tx,
  sought: { workspaceId: number; projectId: ProjectId; environment: EnvironmentKind },
): Promise<Scope | null> {
  return findRow(tx, FIND, [sought.workspaceId, sought.projectId, sought.environment], SCOPE_ROW);
}

const LIST = statement(
  "scopes.list",
  `
  select ${NAMED_SCOPE_ROW.list}
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
  order by p.id, e.id`,
);

export function listScopes(tx: Tx, workspaceId: number): Promise<NamedScope[]> {
  return listRows(tx, LIST, [workspaceId], NAMED_SCOPE_ROW);
}
