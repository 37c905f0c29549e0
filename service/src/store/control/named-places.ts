import { readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../../words/brand.ts";
import { readEnvironmentKind } from "./environment-kind.ts";
import type { Place } from "./places.ts";

/** With its project's name, for people to tell it by. */
export type NamedPlace = Place & { readonly projectName: string };

const LIST = statement(
  "places.list_named",
  `
  select p.id, p.name, e.id, e.kind, p.cell
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
  order by p.id, e.id`,
);

/** All that a workspace has. */
export async function listNamedPlaces(tx: Tx, workspaceId: number): Promise<NamedPlace[]> {
  const { rows } = await tx.run(LIST, [workspaceId]);
  return rows.map(([projectId, name, environmentId, kind, cell]) => ({
    projectId: brandAs<ProjectId>(readInteger(projectId)),
    projectName: readText(name),
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    environment: readEnvironmentKind(kind),
    cell: readText(cell),
  }));
}
