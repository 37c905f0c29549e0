import type { ShortHash } from "../../entitlement/fingerprint.ts";
import {
  bigints,
  booleans,
  hexUuids,
  integers,
  smallints,
  texts,
  timestamps,
  uuids,
} from "../../postgres/binary-array.ts";
import { readBoolean, readInteger } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { BatchCounts } from "../../primitives/batch-counts.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { type Uuid, uuidV7 } from "../../primitives/uuid.ts";

/** The logged endpoints. Each name is the end of the endpoint's path, without IDs. */
export const LOGGED_ENDPOINTS = [
  "check",
  "consume",
  "consume/reverse",
  "events",
  "events/batch",
  "holds",
  "holds/extend",
  "holds/settle",
  "holds/release",
] as const;
export type LoggedEndpoint = (typeof LOGGED_ENDPOINTS)[number];

/** A request that was rejected because its idempotency key was used for another request. Personal data (member, metadata) is hashed. */
export type Refused = {
  readonly quantity: number;
  /** The items in canonical form. Absent from entries written before 0.2. Null for a request without items. */
  readonly items?: string | null;
  /** Absent from entries written before 0.2. */
  readonly memberHash?: ShortHash | null;
  readonly metadataHash: ShortHash | null;
  readonly timestamp: Instant | null;
  /** Absent unless the request was for a hold. */
  readonly hold?: { readonly expiresInMs: number; readonly onExpiry: string };
};

export type LoggedRequest = {
  readonly environmentId: EnvironmentId;
  readonly requestId: string;
  /** The trace ID in the caller's `traceparent`, as 32 hexadecimal digits. */
  readonly traceId: string | null;
  readonly endpoint: LoggedEndpoint;
  readonly status: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly isReplay: boolean;
  /** The written entry contains the customer's number instead. */
  readonly customerId: string | null;
  readonly subject: string | null;
  readonly keyHash: ShortHash | null;
  readonly durationMs: number;
  /** Time since the response. */
  readonly ageMs: number;
  readonly refused: Refused | null;
  /** Set for a recorded event that has a timestamp. */
  readonly occurredAt: Instant | null;
  /** Counts of a batch's results. Null for other requests and for rejected batches. */
  readonly counts: BatchCounts | null;
};

/** A time of the database clock, in microseconds since 1970. */
export type LogTime = number;

const OPEN = statement(
  "request_log.open",
  `
  select
    pg_advisory_xact_lock(hashtextextended('purser.request_log', 0)),
    -- The commit waits for neither disk nor standby, because losing log rows in a crash is acceptable.
    set_config('synchronous_commit', 'off', true)`,
);

const READ_TIME = statement(
  "request_log.read_time",
  "select (extract(epoch from clock_timestamp()) * 1000000)::bigint",
);

/** Serializes writers, so that IDs become visible in order. Returns the time, read after the lock is acquired. */
export async function openRequestLog(tx: Tx): Promise<LogTime> {
  await tx.run(OPEN);
  const { rows } = await tx.run(READ_TIME);
  return readInteger(rows[0]?.[0]);
}

const INSERT = statement(
  "request_log.insert",
  `
  insert into cell.request_log (
    environment_id, id, recorded_at, request_id, endpoint, status, code, reason, is_replay, customer_number, subject,
    key_hash, duration_ms, refused, occurred_at, trace_id, counts
  )
  select
    l.environment_id,
    l.id,
    $1::timestamptz - l.age_ms * interval '1 millisecond',
    l.request_id,
    l.endpoint,
    l.status,
    l.code,
    l.reason,
    l.is_replay,
    (
      select c.number
      from cell.customers as c
      where c.environment_id = l.environment_id
        and c.customer_id = l.customer_id
    ),
    l.subject,
    l.key_hash,
    l.duration_us / 1000.0,
    l.refused::jsonb,
    l.occurred_at,
    l.trace_id,
    l.counts::jsonb
  from unnest(
    $2::integer[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::text[],
    $10::boolean[], $11::text[], $12::text[], $13::uuid[], $14::bigint[], $15::text[], $16::timestamptz[],
    $17::uuid[], $18::text[]
  ) as l (
    environment_id, id, age_ms, request_id, endpoint, status, code, reason, is_replay, customer_id, subject, key_hash,
    duration_us, refused, occurred_at, trace_id, counts
  )`,
);

/** Inserts log entries in the given order. `now` comes from `openRequestLog` in this transaction. */
export function insertRequestLog(tx: Tx, requests: readonly LoggedRequest[], now: LogTime): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(brandAs<Instant>(Math.floor(now / 1000))),
    integers(requests.map((request) => request.environmentId)),
    uuids(makeIds(requests.length, now)),
    bigints(requests.map((request) => Math.max(0, Math.round(request.ageMs)))),
    texts(requests.map((request) => request.requestId)),
    texts(requests.map((request) => request.endpoint)),
    smallints(requests.map((request) => request.status)),
    texts(requests.map((request) => request.code)),
    texts(requests.map((request) => request.reason)),
    booleans(requests.map((request) => request.isReplay)),
    texts(requests.map((request) => request.customerId)),
    texts(requests.map((request) => request.subject)),
    hexUuids(requests.map((request) => request.keyHash)),
    bigints(requests.map((request) => Math.round(request.durationMs * 1000))),
    texts(requests.map(({ refused }) => (refused === null ? null : JSON.stringify(refused)))),
    timestamps(requests.map(({ occurredAt }) => occurredAt)),
    hexUuids(requests.map(({ traceId }) => traceId)),
    texts(requests.map(({ counts }) => (counts === null ? null : JSON.stringify(counts)))),
  ]);
}

/** Creates IDs in ascending order. The 12 bits after the milliseconds contain the fraction of the millisecond. */
function makeIds(count: number, now: LogTime): Uuid[] {
  const at = brandAs<Instant>(Math.floor(now / 1000));
  const fraction = Math.floor(((now % 1000) * 4096) / 1000);
  const ids = Array.from({ length: count }, () => {
    const id = uuidV7(at);
    id.writeUInt16BE(0x7000 | fraction, 6);
    return id;
  });
  return ids.sort(Buffer.compare);
}

/** A lower bound for log IDs. Entries written at or after `at` have higher IDs. */
export function lowestLogId(at: Instant): Uuid {
  return uuidV7(brandAs<Instant>(Math.max(0, at))).fill(0, 6);
}

/** An entry is written about a second after its response. A minute allows for a slow database. */
const WRITTEN_WITHIN_MS = 60_000;

/** An upper bound for log IDs. Entries of responses before `at` have lower IDs. So may entries of responses up to a minute later. */
export function highestLogId(at: Instant): Uuid {
  return lowestLogId(brandAs<Instant>(at + WRITTEN_WITHIN_MS));
}

export type RequestCount = {
  readonly environmentId: EnvironmentId;
  readonly endpoint: LoggedEndpoint;
  /** The code of an error, the reason of a denial, or `ok`. */
  readonly outcome: string;
  readonly requests: number;
};

const ADD_COUNTS = statement(
  "request_counts.add",
  `
  insert into cell.request_counts as c (environment_id, hour, endpoint, outcome, requests)
  select n.environment_id, date_trunc('hour', $1::timestamptz, 'UTC'), n.endpoint, n.outcome, n.requests
  from unnest($2::integer[], $3::text[], $4::text[], $5::bigint[]) as n (environment_id, endpoint, outcome, requests)
  on conflict on constraint request_counts_pkey do update
  set requests = c.requests + excluded.requests`,
);

/** Adds to the counts for the hour of `now`. In `counts`, each combination of environment, endpoint and outcome must be unique. */
export function addRequestCounts(tx: Tx, counts: readonly RequestCount[], now: LogTime): Promise<Rows> {
  return tx.run(ADD_COUNTS, [
    formatTimestamp(brandAs<Instant>(Math.floor(now / 1000))),
    integers(counts.map((count) => count.environmentId)),
    texts(counts.map((count) => count.endpoint)),
    texts(counts.map((count) => count.outcome)),
    bigints(counts.map((count) => count.requests)),
  ]);
}

const TRY_LOCK = statement(
  "request_log.try_purge_lock",
  "select pg_try_advisory_xact_lock(hashtextextended($1, 0))",
);

/** Tries to acquire the lock of a purge until this transaction ends. False if another process holds the lock. */
export async function tryPurgeLock(tx: Tx, purged: "request_log" | "notices"): Promise<boolean> {
  const { rows } = await tx.run(TRY_LOCK, [`purser.${purged}_purge`]);
  return readBoolean(rows[0]?.[0]);
}

// Uses the primary key to step from one environment to the next, because an index on the time would slow down every insert.
const PURGE = statement(
  "request_log.purge",
  `
  with recursive environments as (
    (
      select l.environment_id
      from cell.request_log as l
      order by l.environment_id
      limit 1
    )
    union all
    select (
      select l.environment_id
      from cell.request_log as l
      where l.environment_id > e.environment_id
      order by l.environment_id
      limit 1
    )
    from environments as e
    where e.environment_id is not null
  )
  delete from cell.request_log as l
  using (
    select o.environment_id, o.id
    from environments as e
    cross join lateral (
      select o.environment_id, o.id
      from cell.request_log as o
      where o.environment_id = e.environment_id
        and o.id < $1::uuid
      order by o.id
      limit $2
    ) as o
    limit $2
  ) as old
  where l.environment_id = old.environment_id
    and l.id = old.id`,
);

/** Deletes up to `rowsMax` log entries written before `before`. Returns how many. A result below `rowsMax` means that none remain. */
export async function purgeRequestLog(tx: Tx, before: Instant, rowsMax: number): Promise<number> {
  const { rowCount } = await tx.run(PURGE, [lowestLogId(before).toString("hex"), rowsMax]);
  return rowCount;
}

const PURGE_COUNTS = statement(
  "request_counts.purge",
  `
  delete from cell.request_counts
  where hour < $1::timestamptz`,
);

export async function purgeRequestCounts(tx: Tx, before: Instant): Promise<number> {
  const { rowCount } = await tx.run(PURGE_COUNTS, [formatTimestamp(before)]);
  return rowCount;
}
