import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type ProjectId } from "../../primitives/brand.ts";
import type { EnvironmentKind } from "../../primitives/secret.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { findScope, type Scope } from "../../store/control/scopes.ts";
import { invalidField } from "../fields.ts";

/** Finds the environment by `projectId` and `environment`, which must be given together. Null if neither is given. */
export async function findEnvironment(
  control: Pool,
  workspaceId: number,
  named: { readonly projectId?: string | null; readonly environment?: EnvironmentKind | null },
): Promise<Scope | null> {
  const { projectId = null, environment = null } = named;
  if (projectId === null && environment === null) return null;
  if (projectId === null || environment === null) {
    const [field, other] = projectId === null ? ["projectId", "environment"] : ["environment", "projectId"];
    throw invalidField({ field, code: "required", message: `is required together with \`${other}\`` });
  }
  const id = readRowId(projectId);
  const sought = { workspaceId, projectId: brandAs<ProjectId>(id ?? 0), environment };
  const scope = id === null ? null : await single(control, (tx) => findScope(tx, sought));
  if (scope === null) throw new Problem("not_found", { detail: "There is no such project or environment." });
  return scope;
}
