import { readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../../words/brand.ts";
import type { EnvironmentKind } from "../../words/secret.ts";

/** A project's environment, and where its rows are. */
export type Place = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly environment: EnvironmentKind;
  readonly cell: string;
};

const FIND = statement(
  "places.find",
  `
  select e.id, p.cell
  from control.projects as p
  join control.environments as e on e.project_id = p.id
  where p.workspace_id = $1
    and p.id = $2
    and e.kind = $3`,
);

/** Null: this workspace has no such project. */
export async function findPlace(
  tx: Tx,
  sought: { workspaceId: number; projectId: ProjectId; environment: EnvironmentKind },
): Promise<Place | null> {
  const { projectId, environment } = sought;
  const { rows } = await tx.run(FIND, [sought.workspaceId, projectId, environment]);
  if (rows[0] === undefined) return null;
  const [environmentId, cell] = rows[0];
  return {
    projectId,
    environment,
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    cell: readText(cell),
  };
}
