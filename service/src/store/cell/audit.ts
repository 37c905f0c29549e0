import { bigints, integers, texts, timestamps, uuids } from "../../postgres/binary-array.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../words/brand.ts";
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
  select
    a.environment_id, a.id, a.recorded_at, a.actor_kind, a.actor_id, a.request_id, a.action, a.subject, a.customer_number,
    a.before::jsonb, a.after::jsonb
  from unnest(
    $1::integer[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
    $10::text[], $11::text[]
  ) as a (
    environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, customer_number, before, after
  )`,
);

export function insertAudits(tx: Tx, rows: readonly AuditRow[]): Promise<Rows> {
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  return tx.run(INSERT, [
    integers(rows.map(({ environmentId }) => environmentId)),
    uuids(rows.map(({ recordedAt }) => uuidV7(recordedAt))),
    timestamps(rows.map(({ recordedAt }) => recordedAt)),
    texts(rows.map(({ actor }) => actor.kind)),
    texts(rows.map(({ actor }) => actor.id)),
    texts(rows.map(({ actor }) => actor.requestId)),
    texts(rows.map(({ action }) => action)),
    texts(rows.map(({ subject }) => subject)),
    bigints(rows.map(({ customerNumber }) => customerNumber)),
    texts(rows.map(({ before }) => json(before))),
    texts(rows.map(({ after }) => json(after))),
  ]);
}
