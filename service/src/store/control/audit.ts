import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import type { EnvironmentId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { uuidV7 } from "../../words/uuid.ts";
import { readControlClock } from "./clock.ts";

export type ControlAudit = {
  readonly workspaceId: number;
  /** Of what belongs to one environment; left out for everything else. */
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
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb)`,
);

export async function insertControlAudit(tx: Tx, row: ControlAudit): Promise<Rows> {
  const recordedAt = await readControlClock(tx);
  return tx.run(INSERT, [
    row.workspaceId,
    row.environmentId ?? null,
    uuidV7(recordedAt).toString("hex"),
    formatTimestamp(recordedAt),
    row.actor.kind,
    row.actor.id,
    row.actor.requestId,
    row.action,
    row.subject,
    row.before === null ? null : JSON.stringify(row.before),
    row.after === null ? null : JSON.stringify(row.after),
  ]);
}
