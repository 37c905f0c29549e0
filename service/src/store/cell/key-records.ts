import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { StoredAnswer } from "../../entitlement/stored-answer.ts";
import { hexUuids } from "../../postgres/binary-array.ts";
import { readBoolean, readBytes, readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../primitives/brand.ts";
import { type Endpoint, endpointOf, readVerdict } from "./keyed-requests.ts";

/** The request stored under an idempotency key, as the management API shows it. */
export type KeptRequest = {
  readonly environmentId: EnvironmentId;
  readonly endpoint: Endpoint;
  readonly recordedAt: Instant;
  /** True if the key has expired. A request with the same key would then be executed again. */
  readonly isEnded: boolean;
  /** Null if the customer was erased. */
  readonly key: string | null;
  readonly answer: StoredAnswer;
};

const FIND = statement(
  "explain.find_keyed_request",
  `
  select
    q.environment_id,
    q.endpoint,
    (extract(epoch from q.recorded_at) * 1000)::bigint,
    q.key,
    $3::integer is not null and q.recorded_at < clock_timestamp() - make_interval(hours => 24 * $3::integer),
    q.answer_format,
    uuid_send(q.subject_id),
    q.credits,
    q.balance,
    (extract(epoch from q.resets_at) * 1000)::bigint,
    q.limit_quantity,
    q.limit_used,
    (extract(epoch from q.limit_resets_at) * 1000)::bigint,
    q.reason,
    q.details
  from cell.keyed_requests as q
  where q.project_id = $1
    and q.key_hash = $2`,
);

/** Finds the request stored under a key. Needs no lock, because no replay depends on the result. */
export async function findKeptRequest(
  tx: Tx,
  projectId: ProjectId,
  keyHash: ShortHash,
  daysMax: number | null,
): Promise<KeptRequest | null> {
  const { rows } = await tx.run(FIND, [projectId, keyHash, daysMax]);
  if (rows[0] === undefined) return null;
  const [environmentId, endpoint, recordedAt, key, isEnded, format, subjectId, ...verdict] = rows[0];
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    endpoint: endpointOf(readInteger(endpoint)),
    recordedAt: readInstant(recordedAt),
    key: readText(key) || null,
    isEnded: readBoolean(isEnded),
    answer: {
      format: readInteger(format),
      subjectId: readBytes(subjectId),
      verdict: readVerdict(verdict),
    },
  };
}

// Looks up each key in a single partition.
const LIST_USES = statement(
  "keyed_requests.list_uses",
  `
  select encode(uuid_send(k.key_hash), 'hex'), q.key, q.endpoint
  from unnest($2::uuid[]) as k (key_hash)
  cross join lateral (
    select q.key, q.endpoint
    from cell.keyed_requests as q
    where q.project_id = $1
      -- Another environment may have used the same key, and the reader may have no access to that environment.
      and q.environment_id = $3
      and q.key_hash = k.key_hash
      -- The text of an erased customer's key is empty.
      and q.key <> ''
  ) as q`,
);

/** An idempotency key, and the endpoint to which it was sent. */
export type KeyUse = { readonly key: string; readonly endpoint: Endpoint };

/** Maps hashes to the idempotency keys that this environment used. Expired keys may be missing. */
export async function listKeyUses(
  tx: Tx,
  { projectId, environmentId }: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  keyHashes: readonly ShortHash[],
): Promise<Map<ShortHash, KeyUse>> {
  if (keyHashes.length === 0) return new Map();
  const { rows } = await tx.run(LIST_USES, [projectId, hexUuids([...new Set(keyHashes)]), environmentId]);
  return new Map(
    rows.map(([hash, key, endpoint]) => [
      readText(hash),
      { key: readText(key), endpoint: endpointOf(readInteger(endpoint)) },
    ]),
  );
}
