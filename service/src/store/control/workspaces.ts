import { describeRow, getRow, integer, orNull, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Role } from "../../primitives/role.ts";
import { role } from "./member-roles.ts";

const LIMITS = describeRow({
  metadataBytesMax: integer("l.metadata_bytes_max"),
  metadataKeysMax: integer("l.metadata_keys_max"),
  metadataDepthMax: integer("l.metadata_depth_max"),
  /** Null means unlimited. */
  historyDaysMax: orNull(integer("l.history_days_max")),
  /** Requests per second, per API key and process. Null means unlimited. */
  requestsPerSecondMax: orNull(integer("l.requests_per_second_max")),
});

const WORKSPACE = describeRow({
  id: integer("w.id"),
  name: text("w.name"),
  planKey: text("w.plan_key"),
  /** Members with this role or above need a second factor. Null if no role needs one. */
  secondFactorFrom: orNull(role("w.second_factor_from")),
  limits: LIMITS,
});

export type WorkspaceLimits = RowOf<typeof LIMITS>;
export type Workspace = RowOf<typeof WORKSPACE>;

const GET = statement(
  "workspaces.get",
  `
  select ${WORKSPACE.list}
  from control.workspaces as w
  join control.workspace_plans as l on l.key = w.plan_key
  where w.id = $1`,
);

export function getWorkspace(tx: Tx, id: number): Promise<Workspace> {
  return getRow(tx, GET, [id], WORKSPACE);
}

const RENAME = statement("workspaces.rename", "update control.workspaces set name = $2 where id = $1");

export async function renameWorkspace(tx: Tx, workspace: { id: number; name: string }): Promise<void> {
  await tx.run(RENAME, [workspace.id, workspace.name]);
}

const SET_SECOND_FACTOR = statement(
  "workspaces.set_second_factor",
  "update control.workspaces set second_factor_from = $2 where id = $1",
);

export async function setSecondFactorFrom(
  tx: Tx,
  workspace: { id: number; from: Role | null },
): Promise<void> {
  await tx.run(SET_SECOND_FACTOR, [workspace.id, workspace.from]);
}

const PUT_OWN_PLAN = statement(
  "workspace_plans.put_own",
  `
  insert into control.workspace_plans (
    key,
    name,
    metadata_bytes_max,
    metadata_keys_max,
    metadata_depth_max,
    history_days_max,
    requests_per_second_max
  )
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (key) do update
  set
    metadata_bytes_max = excluded.metadata_bytes_max,
    metadata_keys_max = excluded.metadata_keys_max,
    metadata_depth_max = excluded.metadata_depth_max,
    history_days_max = excluded.history_days_max,
    requests_per_second_max = excluded.requests_per_second_max`,
);

const TAKE_PLAN = statement(
  "workspaces.take_plan",
  "update control.workspaces set plan_key = $2 where id = $1",
);

/** Moves the workspace to a separate plan, because other workspaces may share the current plan. */
export async function putWorkspaceLimits(tx: Tx, id: number, limits: WorkspaceLimits): Promise<void> {
  const key = `workspace_${id}`;
  await tx.run(PUT_OWN_PLAN, [
    key,
    "Its own",
    limits.metadataBytesMax,
    limits.metadataKeysMax,
    limits.metadataDepthMax,
    limits.historyDaysMax,
    limits.requestsPerSecondMax,
  ]);
  await tx.run(TAKE_PLAN, [id, key]);
}
