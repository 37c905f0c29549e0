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
import { type Parameter, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { BatchCounts } from "../../primitives/batch-counts.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { LOGGED_ENDPOINTS, type LoggedEndpoint, lowestLogId, type Refused } from "./request-log.ts";

const RECORD = describeRow({
  id: uuid("l.id"),
  recordedAt: instant("l.recorded_at"),
  requestId: text("l.request_id"),
  traceId: orNull(hexUuid("l.trace_id")),
  endpoint: column(readEndpoint, "l.endpoint"),
  status: integer("l.status"),
  code: orNull(text("l.code")),
  reason: orNull(text("l.reason")),
  isReplay: boolean("l.is_replay"),
  customerNumber: orNull(id<CustomerNumber>("l.customer_number")),
  subject: orNull(text("l.subject")),
  keyHash: orNull(hexUuid("l.key_hash")),
  durationMs: derive(integer("(l.duration_ms * 1000)::bigint"), (us) => us / 1000),
  refused: orNull(column((value): Refused => JSON.parse(readText(value)), "l.refused::text")),
  /** When the event occurred. */
  occurredAt: orNull(instant("l.occurred_at")),
  counts: orNull(column((value): BatchCounts => JSON.parse(readText(value)), "l.counts::text")),
});

/** An entry in the request log. */
export type LogRecord = RowOf<typeof RECORD>;

/** True if the entry is within a history window that begins at `start`. Compares `occurredAt` for events, and otherwise `recordedAt`. */
export function isWithin({ occurredAt, recordedAt }: LogRecord, start: Instant | null): boolean {
  return (occurredAt ?? recordedAt) >= (start ?? 0);
}

/** A filter on one column. Each of these columns has an index that also contains the ID. */
export type LogColumn =
  | { readonly column: "customer_number"; readonly value: CustomerNumber }
  | { readonly column: "code" | "reason"; readonly value: string }
  | { readonly column: "key_hash"; readonly value: ShortHash };

export type LogRange = {
  readonly by: LogColumn | null;
  /** Only entries older than the entry with this ID. */
  readonly before: Uuid | null;
  /** Only entries newer than the entry with this ID. */
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

/** Lists log entries, newest first. */
export function listLogRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  { by, before, after, limit }: LogRange,
): Promise<LogRecord[]> {
  const none = { customer_number: null, code: null, reason: null, key_hash: null };
  // If a new filter column has no parameter here, this line does not compile.
  none satisfies Record<LogColumn["column"], null>;
  const only: Record<LogColumn["column"], Parameter> =
    by === null ? none : { ...none, [by.column]: by.value };
  const parameters = [
    environmentId,
    only.customer_number,
    only.code,
    only.reason,
    only.key_hash,
    before?.toString("hex") ?? null,
    after?.toString("hex") ?? null,
    limit,
  ];
  // Unnamed, so that PostgreSQL makes a query plan for these filters.
  return listRows(tx, { ...LIST, name: "" }, parameters, RECORD);
}

export function readEndpoint(value: unknown): LoggedEndpoint {
  const endpoint = LOGGED_ENDPOINTS.find((known) => known === value);
  assert(endpoint !== undefined, "an endpoint is known");
  return endpoint;
}

const COUNT = describeRow({
  hour: instant("c.hour"),
  endpoint: column(readEndpoint, "c.endpoint"),
  outcome: text("c.outcome"),
  requests: integer("c.requests"),
});

export type HourlyCount = RowOf<typeof COUNT>;

const LIST_COUNTS = statement(
  "request_counts.list",
  `
  select ${COUNT.list}
  from cell.request_counts as c
  where c.environment_id = $1
    and c.hour >= $2::timestamptz
  order by c.hour, c.endpoint, c.outcome`,
);

export function listRequestCounts(
  tx: Tx,
  environmentId: EnvironmentId,
  since: Instant,
): Promise<HourlyCount[]> {
  return listRows(tx, LIST_COUNTS, [environmentId, formatTimestamp(since)], COUNT);
}

/** Each query below scans only this many of the newest rows. */
const SCANNED_MAX = 20_000;
const KEYS_MAX = 50;

const SEEN_KEY = describeRow({
  key: text("s.subject"),
  requests: integer("count(*)"),
  lastSeenAt: instant("max(s.recorded_at)"),
});

export type SeenKey = RowOf<typeof SEEN_KEY>;

// Leaves out features that have since been created.
const LIST_UNKNOWN_FEATURES = statement(
  "request_log.list_unknown_features",
  `
  select ${SEEN_KEY.list}
  from (
    select l.subject, l.recorded_at
    from cell.request_log as l
    where l.environment_id = $1
      and l.code = 'feature_not_found'
      and l.id >= $2::uuid
    order by l.id desc
    limit ${SCANNED_MAX}
  ) as s
  where s.subject is not null
    and not exists (
      select
      from cell.features as f
      where f.environment_id = $1
        and f.key = s.subject
    )
  group by s.subject
  order by count(*) desc, s.subject
  limit ${KEYS_MAX}`,
);

const LIST_UNNAMED_EVENTS = statement(
  "request_log.list_unnamed_events",
  `
  select ${SEEN_KEY.list}
  from (
    select l.subject, l.recorded_at, l.endpoint, l.code, l.occurred_at
    from cell.request_log as l
    where l.environment_id = $1
      and l.id >= $2::uuid
    order by l.id desc
    limit ${SCANNED_MAX}
  ) as s
  where s.endpoint = 'events'
    and s.code is null
    and ($3::timestamptz is null or s.occurred_at is null or s.occurred_at >= $3)
    and s.subject is not null
    and not exists (
      select
      from cell.event_keys as k
      where k.environment_id = $1
        and k.key = s.subject
    )
  group by s.subject
  order by count(*) desc, s.subject
  limit ${KEYS_MAX}`,
);

/** Lists requested feature keys that do not exist in the catalog, most frequent first. */
export function listUnknownFeatures(
  tx: Tx,
  environmentId: EnvironmentId,
  since: Instant,
): Promise<SeenKey[]> {
  return listRows(tx, LIST_UNKNOWN_FEATURES, [environmentId, lowestIdOf(since)], SEEN_KEY);
}

/** Lists recorded event keys that have no name, most frequent first. Ignores events that occurred before `start`. */
export function listUnnamedEvents(
  tx: Tx,
  environmentId: EnvironmentId,
  { since, start }: { readonly since: Instant; readonly start: Instant | null },
): Promise<SeenKey[]> {
  const from = start === null ? null : formatTimestamp(start);
  return listRows(tx, LIST_UNNAMED_EVENTS, [environmentId, lowestIdOf(since), from], SEEN_KEY);
}

function lowestIdOf(since: Instant): string {
  return lowestLogId(since).toString("hex");
}
