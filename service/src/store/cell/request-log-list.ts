import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { readText } from "../../postgres/column.ts";
import {
  boolean,
  column,
  derive,
  describeRow,
  hexUuid,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
  uuid,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../words/assert.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../words/brand.ts";
import type { Uuid } from "../../words/uuid.ts";
import type { LoggedEndpoint, Refused } from "./request-log.ts";

const RECORD = describeRow({
  id: uuid("l.id"),
  recordedAt: instant("l.recorded_at"),
  requestId: text("l.request_id"),
  endpoint: column(readEndpoint, "l.endpoint"),
  status: integer("l.status"),
  code: orNull(text("l.code")),
  reason: orNull(text("l.reason")),
  isReplay: boolean("l.is_replay"),
  customerNumber: orNull(id<CustomerNumber>("l.customer_number")),
  subject: orNull(text("l.subject")),
  keyHash: orNull(hexUuid("l.key_hash")),
  durationMs: derive(integer("(l.duration_ms * 1000)::bigint"), (us) => us / 1000),
  // As `insertRequestLog` has written it.
  refused: orNull(column((value): Refused => JSON.parse(readText(value)), "l.refused::text")),
  /** Of an event: its own time. */
  occurredAt: orNull(instant("l.occurred_at")),
});

/** A request as the log has it. */
export type LogRecord = RowOf<typeof RECORD>;

/** Of an event its own time, of anything else when it was answered: on that a history window is measured. */
export function isWithin({ occurredAt, recordedAt }: LogRecord, start: Instant | null): boolean {
  return (occurredAt ?? recordedAt) >= (start ?? 0);
}

/** One column at most, each with an index that has the ids behind it. */
export type LogColumn =
  | { readonly column: "customer_number"; readonly value: CustomerNumber }
  | { readonly column: "code" | "reason"; readonly value: string }
  | { readonly column: "key_hash"; readonly value: ShortHash };

export type LogRange = {
  readonly by: LogColumn | null;
  /** Older than this one. */
  readonly before: Uuid | null;
  /** Newer than this one. */
  readonly after: Uuid | null;
  readonly limit: number;
};

const LIST = statement(
  "request_log.list",
  `
  select ${RECORD.list}
  from cell.request_log as l
  where l.environment_id = $1
    and ($2::bigint is null or l.customer_number = $2)
    and ($3::text is null or l.code = $3)
    and ($4::text is null or l.reason = $4)
    and ($5::uuid is null or l.key_hash = $5)
    and ($6::uuid is null or l.id < $6)
    and ($7::uuid is null or l.id > $7)
  order by l.id desc
  limit $8`,
);

/** The newest first. */
export function listLogRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  { by, before, after, limit }: LogRange,
): Promise<LogRecord[]> {
  const only = (name: LogColumn["column"]) => (by?.column === name ? by.value : null);
  const parameters = [
    environmentId,
    only("customer_number"),
    only("code"),
    only("reason"),
    only("key_hash"),
    before?.toString("hex") ?? null,
    after?.toString("hex") ?? null,
    limit,
  ];
  // Planned anew each time, for the filters there are.
  return listRows(tx, { ...LIST, name: "" }, parameters, RECORD);
}

export function readEndpoint(value: unknown): LoggedEndpoint {
  assert(value === "check" || value === "consume" || value === "events", "an endpoint is a known one");
  return value;
}
