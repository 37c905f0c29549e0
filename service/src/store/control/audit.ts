import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { uuidV7 } from "../../primitives/uuid.ts";
import { readControlClock } from "./clock.ts";

export type ControlAudit = {
  readonly workspaceId: number;
  /** The changed environment. Absent or null if the change concerns the whole workspace. */
  readonly environmentId?: EnvironmentId | null;
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  readonly before: object | null;
  readonly after: object | null;
};

const INSERT = statement(
  "audit.insert_control",
  `
  insert into control.audit (
    workspace_id, environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, before, after
  )
  select
    r.workspace_id, r.environment_id, r.id, $1::timestamptz, r.actor_kind, r.actor_id, r.request_id, r.action, r.subject,
    r.before, r.after
  from jsonb_to_recordset($2::jsonb) as r (
    workspace_id integer, environment_id integer, id uuid, actor_kind text, actor_id text, request_id text, action text,
    subject text, before jsonb, after jsonb
  )`,
);

export function insertControlAudit(tx: Tx, row: ControlAudit): Promise<Rows> {
  return insertControlAudits(tx, [row]);
}

/** Inserts many entries with the same timestamp, in one statement. */
export async function insertControlAudits(tx: Tx, rows: readonly ControlAudit[]): Promise<Rows> {
  const recordedAt = await readControlClock(tx);
  const written = rows.map(({ workspaceId, environmentId, actor, action, subject, before, after }) => ({
    workspace_id: workspaceId,
    environment_id: environmentId ?? null,
    id: uuidV7(recordedAt).toString("hex"),
    actor_kind: actor.kind,
    actor_id: actor.id,
    request_id: actor.requestId,
    action,
    subject,
    before,
    after,
  }));
  return tx.run(INSERT, [formatTimestamp(recordedAt), JSON.stringify(written)]);
}
