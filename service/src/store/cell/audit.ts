import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { uuidV7 } from "../../words/uuid.ts";

export type AuditRow = {
  readonly environmentId: EnvironmentId;
  readonly recordedAt: Instant;
  readonly actor: Actor;
  readonly action: string;
  /** What it was done to: a plan's key, say. Never a customer's own id, which could not be erased from here. */
  readonly subject: string;
  readonly customerNumber: CustomerNumber | null;
  readonly before: object | null;
  readonly after: object | null;
};

const INSERT = statement(
  "audit.insert",
  `
  insert into cell.audit (
    environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, customer_number, before, after
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb)`,
);

export function insertAudit(tx: Tx, row: AuditRow): Promise<Rows> {
  const { actor } = row;
  return tx.run(INSERT, [
    row.environmentId,
    uuidV7(row.recordedAt).toString("hex"),
    formatTimestamp(row.recordedAt),
    actor.kind,
    actor.id,
    actor.requestId,
    row.action,
    row.subject,
    row.customerNumber,
    row.before === null ? null : JSON.stringify(row.before),
    row.after === null ? null : JSON.stringify(row.after),
  ]);
}
