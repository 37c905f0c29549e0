import { bigints, texts, uuids } from "../../postgres/binary-array.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { uuidV7 } from "../../words/uuid.ts";

const LOOK_UP_BY_INDEX = statement(
  "bulk.look_up_by_index",
  `
  select
    set_config('plan_cache_mode', 'force_custom_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`,
);

/**
 * For the rest of this transaction: a few hundred look-ups of single rows, in tables that may have been empty when this
 * connection first met them. A plan made then reads all of them each time.
 */
export function lookUpByIndex(tx: Tx): Promise<Rows> {
  return tx.run(LOOK_UP_BY_INDEX);
}

/** Of one customer; what holds for all of them stands beside. */
export type AuditLine = {
  readonly customerNumber: CustomerNumber;
  readonly action: string;
  readonly subject: string;
  readonly before: object | null;
  readonly after: object | null;
};

const INSERT_AUDIT = statement(
  "bulk.insert_audit",
  `
  insert into cell.audit (
    environment_id, id, recorded_at, actor_kind, actor_id, request_id, action, subject, customer_number, before, after
  )
  select $1, a.id, $2::timestamptz, $3, $4, $5, a.action, a.subject, a.customer_number, a.before::jsonb, a.after::jsonb
  from unnest($6::uuid[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[])
    as a (id, action, subject, customer_number, before, after)`,
);

/** What one caller did to many customers, in one statement. */
export function insertAuditLines(
  tx: Tx,
  by: { readonly environmentId: EnvironmentId; readonly actor: Actor; readonly recordedAt: Instant },
  lines: readonly AuditLine[],
): Promise<Rows> {
  const { environmentId, actor, recordedAt } = by;
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  return tx.run(INSERT_AUDIT, [
    environmentId,
    formatTimestamp(recordedAt),
    actor.kind,
    actor.id,
    actor.requestId,
    uuids(lines.map(() => uuidV7(recordedAt))),
    texts(lines.map(({ action }) => action)),
    texts(lines.map(({ subject }) => subject)),
    bigints(lines.map(({ customerNumber }) => customerNumber)),
    texts(lines.map(({ before }) => json(before))),
    texts(lines.map(({ after }) => json(after))),
  ]);
}
