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
  return column((value) => {
    assert(value === "test" || value === "live", "an environment is test or live");
    return value;
  }, sql);
}

const PLACE = {
  projectId: id<ProjectId>("p.id"),
  environmentId: id<EnvironmentId>("e.id"),
  environment: environmentKind("e.kind"),
  cell: text("p.cell"),
};
const PLACE_ROW = describeRow(PLACE);
const NAMED_PLACE_ROW = describeRow({ ...PLACE, projectName: text("p.name") });

/** A project's environment, and where its rows are. */
export type Place = RowOf<typeof PLACE_ROW>;

/** With its project's name, for people to tell it by. */
export type NamedPlace = RowOf<typeof NAMED_PLACE_ROW>;

const FIND = statement(
  "places.find",
  `
  select ${PLACE_ROW.list}
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
    and p.id = $2
    and e.kind = $3`,
);

/** Null: this workspace has no such project. */
export function findPlace(
  tx: Tx,
  sought: { workspaceId: number; projectId: ProjectId; environment: EnvironmentKind },
): Promise<Place | null> {
  return findRow(tx, FIND, [sought.workspaceId, sought.projectId, sought.environment], PLACE_ROW);
}

const LIST = statement(
  "places.list",
  `
  select ${NAMED_PLACE_ROW.list}
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
  order by p.id, e.id`,
);

/** All of a workspace. */
export function listPlaces(tx: Tx, workspaceId: number): Promise<NamedPlace[]> {
  return listRows(tx, LIST, [workspaceId], NAMED_PLACE_ROW);
}
