import type { Reason } from "../../entitlement/decide.ts";
import type { Fingerprint, ShortHash } from "../../entitlement/fingerprint.ts";
import type { StoredAnswer, StoredItem, StoredVerdict } from "../../entitlement/stored-answer.ts";
import { hexUuids, integers } from "../../postgres/binary-array.ts";
import {
  readBoolean,
  readBytes,
  readInstant,
  readInteger,
  readNullable,
  readText,
} from "../../postgres/column.ts";
import { columnsOf, Insert } from "../../postgres/insert.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type EnvironmentId,
  type IdempotencyKey,
  type Instant,
  type ProjectId,
} from "../../primitives/brand.ts";
import { REASON_NUMBER, reasonOf } from "./denials.ts";

export const KEYED_ENDPOINTS = ["consume", "events", "holds", "consume/reverse"] as const;
export type Endpoint = (typeof KEYED_ENDPOINTS)[number];

/** An idempotency key belongs to a project. All environments and API keys of the project share it. */
export type KeyName = {
  readonly projectId: ProjectId;
  readonly key: IdempotencyKey;
  readonly keyHash: ShortHash;
};

export type KeyedRequest = KeyName & {
  readonly environmentId: EnvironmentId;
  readonly endpoint: Endpoint;
  readonly fingerprint: Fingerprint;
  readonly answer: StoredAnswer;
};

const ENDPOINT_NUMBER = {
  consume: 2,
  events: 3,
  holds: 4,
  "consume/reverse": 5,
} as const satisfies Record<Endpoint, number>;

export function endpointOf(number: number): Endpoint {
  return KEYED_ENDPOINTS.find((endpoint) => ENDPOINT_NUMBER[endpoint] === number) ?? "consume";
}

const LOCK = statement(
  "keyed_requests.lock",
  `
  select
    k.project_id,
    encode(uuid_send(k.key_hash), 'hex'),
    r.environment_id,
    r.endpoint,
    encode(uuid_send(r.fingerprint), 'hex'),
    r.answer_format,
    uuid_send(r.subject_id),
    r.key,
    r.credits,
    r.balance,
    r.resets_at,
    r.limit_quantity,
    r.limit_used,
    r.limit_resets_at,
    r.reason,
    r.details,
    r.is_ended
  from unnest($1::integer[], $2::uuid[]) as k (project_id, key_hash)
  cross join lateral (
    select
      q.environment_id,
      q.endpoint,
      q.fingerprint,
      q.answer_format,
      q.subject_id,
      q.key,
      q.credits,
      q.balance,
      (extract(epoch from q.resets_at) * 1000)::bigint as resets_at,
      q.limit_quantity,
      q.limit_used,
      (extract(epoch from q.limit_resets_at) * 1000)::bigint as limit_resets_at,
      q.reason,
      q.details,
      $3::integer is not null and q.recorded_at < clock_timestamp() - make_interval(hours => 24 * $3::integer) as is_ended
    from cell.keyed_requests as q
    where q.project_id = k.project_id
      and q.key_hash = k.key_hash
    for update
  ) as r`,
);

/** An expired key can be used again, even while its row still exists. */
export type FoundKey = KeyedRequest & { readonly isEnded: boolean };

/**
 * Finds and locks the requests stored under these keys, which must be sorted. Without the lock, a row could be returned before a
 * synchronous standby has it. The lock makes this transaction's commit wait until the standby has the row. The lateral join probes one
 * partition per key, whereas `= any(…)` would probe all partitions.
 */
export async function lockKeyedRequests(
  tx: Tx,
  keys: readonly KeyName[],
  daysMax: number | null,
): Promise<FoundKey[]> {
  const { rows } = await tx.run(LOCK, [
    integers(keys.map((key) => key.projectId)),
    hexUuids(keys.map((key) => key.keyHash)),
    daysMax,
  ]);
  return rows.map((row) => {
    const [projectId, keyHash, environmentId, endpoint, fingerprint, format, subjectId, key, ...verdict] =
      row;
    const isEnded = readBoolean(verdict.pop());
    return {
      projectId: brandAs<ProjectId>(readInteger(projectId)),
      keyHash: readText(keyHash),
      key: brandAs<IdempotencyKey>(readText(key)),
      environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
      endpoint: endpointOf(readInteger(endpoint)),
      fingerprint: readText(fingerprint),
      answer: {
        format: readInteger(format),
        subjectId: readBytes(subjectId),
        verdict: readVerdict(verdict),
      },
      isEnded,
    };
  });
}

/** Columns: credits, balance, resets_at, limit_quantity, limit_used, limit_resets_at, reason, details. */
export function readVerdict(columns: readonly unknown[]): StoredVerdict | null {
  const [reason, details] = columns.slice(6);
  const single = readSingle(columns);
  if (single === null && details === null) return null;
  return {
    reason: reason === null ? null : reasonOf(readInteger(reason)),
    single,
    details: readNullable(details, readText),
  };
}

function readSingle(columns: readonly unknown[]): StoredItem | null {
  const [credits, balance, resetsAt, limitQuantity, limitUsed, limitResetsAt] = columns;
  if (credits === null) return null;
  const limit =
    limitQuantity === null
      ? null
      : {
          quantity: readInteger(limitQuantity),
          used: readInteger(limitUsed),
          resetsAt: readNullable(limitResetsAt, readInstant),
        };
  return {
    creditsRequired: readInteger(credits),
    overageCredits: 0,
    position: {
      balance: readInteger(balance),
      resetsAt: readNullable(resetsAt, readInstant),
      limit,
      overage: null,
    },
  };
}

const columns = columnsOf<KeyedRequest>();

const INSERT = new Insert<KeyedRequest>("keyed_requests.insert", "keyed_requests", {
  usual: [
    columns.integer("project_id", (request) => request.projectId),
    columns.hexUuid("key_hash", (request) => request.keyHash),
    columns.integer("environment_id", (request) => request.environmentId),
    columns.hexUuid("fingerprint", (request) => request.fingerprint),
    columns.uuid("subject_id", ({ answer }) => answer.subjectId),
    columns.smallint("endpoint", (request) => ENDPOINT_NUMBER[request.endpoint]),
    columns.smallint("answer_format", ({ answer }) => answer.format),
    columns.text("key", (request) => request.key),
    columns.bigint("credits", ({ answer }) => answer.verdict?.single?.creditsRequired ?? null),
    columns.bigint("balance", ({ answer }) => answer.verdict?.single?.position?.balance ?? null),
    columns.timestamp("resets_at", ({ answer }) => answer.verdict?.single?.position?.resetsAt ?? null),
  ],
  // Not null only for limited features, denials and requests with items.
  rare: [
    columns.bigint(
      "limit_quantity",
      ({ answer }) => answer.verdict?.single?.position?.limit?.quantity ?? null,
    ),
    columns.bigint("limit_used", ({ answer }) => answer.verdict?.single?.position?.limit?.used ?? null),
    columns.timestamp(
      "limit_resets_at",
      ({ answer }) => answer.verdict?.single?.position?.limit?.resetsAt ?? null,
    ),
    columns.smallint("reason", ({ answer }) => numberOf(answer.verdict?.reason ?? null)),
    columns.text("details", ({ answer }) => answer.verdict?.details ?? null),
  ],
  hasRare: ({ answer: { verdict } }) =>
    verdict !== null &&
    (verdict.reason !== null || verdict.details !== null || verdict.single?.position?.limit != null),
});

/**
 * Keys must be sorted. The statement fails if another process has already stored one of these keys, and the batch then reruns.
 */
export function insertKeyedRequests(
  tx: Tx,
  requests: readonly KeyedRequest[],
  recordedAt: Instant,
): Promise<Rows> {
  return INSERT.run(tx, requests, recordedAt);
}

const DELETE = statement(
  "keyed_requests.delete",
  `
  delete from cell.keyed_requests as q
  using unnest($1::integer[], $2::uuid[]) as k (project_id, key_hash)
  where q.project_id = k.project_id
    and q.key_hash = k.key_hash`,
);

/** Deletes expired keys that this transaction has locked. */
export function deleteKeyedRequests(tx: Tx, keys: readonly KeyName[]): Promise<Rows> {
  return tx.run(DELETE, [
    integers(keys.map((key) => key.projectId)),
    hexUuids(keys.map((key) => key.keyHash)),
  ]);
}

function numberOf(reason: Reason | null): number | null {
  return reason === null ? null : REASON_NUMBER[reason];
}

export function compareKeys(a: KeyName, b: KeyName): number {
  if (a.projectId !== b.projectId) return a.projectId - b.projectId;
  return a.keyHash < b.keyHash ? -1 : a.keyHash > b.keyHash ? 1 : 0;
}

/** The number of partitions that migration 3 creates. */
export const KEY_PARTITIONS = 8;

// Scans pages, because an index on the time would slow down every request. The rows are roughly in order of time. Ages are measured in
// hours, because the length of a day depends on the session's time zone.
const PURGES = Array.from({ length: KEY_PARTITIONS }, (_, partition) =>
  statement(
    `keyed_requests.purge_${partition}`,
    `
  delete from cell.keyed_requests_${partition}
  where ctid = any (array(
    select ctid
    from cell.keyed_requests_${partition}
    where ctid >= format('(%s,0)', $1::bigint)::tid
      and ctid < format('(%s,0)', $2::bigint)::tid
      and recorded_at < clock_timestamp() - make_interval(hours => 24 * $3::integer)
    for update skip locked
  ))`,
  ),
);

type Pages = { readonly partition: number; readonly from: number; readonly to: number };

/** Deletes expired keys in these pages. Locked rows are left for the next sweep. */
export async function purgeKeys(tx: Tx, { partition, from, to }: Pages, days: number): Promise<number> {
  const purge = PURGES[partition];
  if (purge === undefined) return 0;
  const { rowCount } = await tx.run(purge, [from, to, days]);
  return rowCount;
}

const COUNT_PAGES = statement(
  "keyed_requests.count_pages",
  `
  select pg_relation_size(format('cell.keyed_requests_%s', $1::integer)::regclass)
    / current_setting('block_size')::integer`,
);

export async function countKeyPages(tx: Tx, partition: number): Promise<number> {
  const { rows } = await tx.run(COUNT_PAGES, [partition]);
  return readInteger(rows[0]?.[0]);
}
