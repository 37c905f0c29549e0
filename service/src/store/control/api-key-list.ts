import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../words/brand.ts";
import type { EnvironmentKind } from "../../words/secret.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { readScopes, type Scope } from "./api-keys.ts";
import { type Creator, creatorColumns, isCreatedByMember, readCreator } from "./creator.ts";
import { readEnvironmentKind } from "./environment-kind.ts";

/** A key as people see one: everything but the secret, which nobody has. */
export type ApiKeyRecord = {
  readonly id: number;
  readonly workspaceId: number;
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly environmentKind: EnvironmentKind;
  /** Null: unknown. */
  readonly createdBy: Creator | null;
  readonly name: string;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  readonly lastUsedAt: Instant | null;
  /** Neither revoked nor expired, by the database's clock. */
  readonly isValid: boolean;
};

const IS_VALID = "(k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()))";

const COLUMNS = `
  k.id,
  (select p.workspace_id from control.projects as p where p.id = k.project_id),
  k.project_id,
  k.environment_id,
  (select e.kind from control.environments as e where e.id = k.environment_id),
  ${creatorColumns("k")},
  k.name,
  k.last_four,
  array_to_string(k.scopes, ','),
  (extract(epoch from k.created_at) * 1000)::bigint,
  (extract(epoch from k.expires_at) * 1000)::bigint,
  (extract(epoch from k.revoked_at) * 1000)::bigint,
  (extract(epoch from k.last_used_at) * 1000)::bigint,
  ${IS_VALID}`;

function readRecord(row: readonly unknown[]): ApiKeyRecord {
  const [id, workspaceId, projectId, environmentId, kind, ...more] = row;
  const [creatorKind, creatorId, creatorName, name, lastFour, scopes, ...rest] = more;
  const [createdAt, expiresAt, revokedAt, lastUsedAt, isValid] = rest;
  return {
    id: readInteger(id),
    workspaceId: readInteger(workspaceId),
    projectId: brandAs<ProjectId>(readInteger(projectId)),
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    environmentKind: readEnvironmentKind(kind),
    createdBy: readCreator(creatorKind, creatorId, creatorName),
    name: readText(name),
    lastFour: readText(lastFour),
    scopes: readScopes(scopes),
    createdAt: readInstant(createdAt),
    expiresAt: readNullable(expiresAt, readInstant),
    revokedAt: readNullable(revokedAt, readInstant),
    lastUsedAt: readNullable(lastUsedAt, readInstant),
    isValid: readBoolean(isValid),
  };
}

const LIST = statement(
  "api_keys.list",
  `
  select ${COLUMNS}
  from control.api_keys as k
  where k.environment_id = $1
    and ($2::bigint is null or k.id < $2::bigint)
  order by k.id desc
  limit $3`,
);

/** The newest first. */
export async function listApiKeys(
  tx: Tx,
  page: { environmentId: EnvironmentId; before: number | null; limit: number },
): Promise<ApiKeyRecord[]> {
  const { rows } = await tx.run(LIST, [page.environmentId, page.before, page.limit]);
  return rows.map(readRecord);
}

const LIST_CREATED_BY = statement(
  "api_keys.list_created_by",
  `
  select ${COLUMNS}
  from control.projects as p
  join control.api_keys as k on k.project_id = p.id
  where p.workspace_id = $1
    and ${IS_VALID}
    and ${isCreatedByMember("k", "$2")}
  order by k.last_used_at desc nulls last, k.id desc
  limit $3`,
);

/** Valid ones that a member or one of their tokens created, last used first. */
export async function listApiKeysCreatedBy(
  tx: Tx,
  { workspaceId, memberId }: { workspaceId: number; memberId: number },
  limit: number,
): Promise<ApiKeyRecord[]> {
  const { rows } = await tx.run(LIST_CREATED_BY, [workspaceId, memberId, limit]);
  return rows.map(readRecord);
}

const FIND_CREATED_BY = statement(
  "api_keys.find_created_by",
  `
  select ${COLUMNS}
  from control.api_keys as k
  join control.projects as p on p.id = k.project_id
  where k.id = any($3::integer[])
    and p.workspace_id = $1
    and ${isCreatedByMember("k", "$2")}
  order by k.id`,
);

/** Those of these that a member or one of their tokens created, also if they have ended. */
export async function findApiKeysCreatedBy(
  tx: Tx,
  { workspaceId, memberId, ids }: { workspaceId: number; memberId: number; ids: readonly number[] },
): Promise<ApiKeyRecord[]> {
  const { rows } = await tx.run(FIND_CREATED_BY, [workspaceId, memberId, ids]);
  return rows.map(readRecord);
}

const LOCK = statement(
  "api_keys.lock",
  `
  select ${COLUMNS}
  from control.api_keys as k
  where k.environment_id = $1
    and k.id = $2
  for update of k`,
);

/** Null: the environment has no such key. */
export async function lockApiKey(
  tx: Tx,
  key: { environmentId: EnvironmentId; id: number },
): Promise<ApiKeyRecord | null> {
  const { rows } = await tx.run(LOCK, [key.environmentId, key.id]);
  return rows[0] === undefined ? null : readRecord(rows[0]);
}

const LOCK_BY_SECRET = statement(
  "api_keys.lock_by_secret",
  `
  select ${COLUMNS}
  from control.api_keys as k
  where k.secret_hash = $1
  for update of k`,
);

export async function lockApiKeyBySecret(tx: Tx, secretHash: Buffer): Promise<ApiKeyRecord | null> {
  const { rows } = await tx.run(LOCK_BY_SECRET, [secretHash]);
  return rows[0] === undefined ? null : readRecord(rows[0]);
}

const INSERT = statement(
  "api_keys.insert",
  `
  insert into control.api_keys as k
    (project_id, environment_id, name, secret_hash, last_four, scopes, expires_at, created_by_kind, created_by_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning ${COLUMNS}`,
);

export type NewApiKey = Pick<
  ApiKeyRecord,
  "projectId" | "environmentId" | "name" | "lastFour" | "scopes" | "expiresAt"
> & { readonly secretHash: Buffer; readonly createdBy: Pick<Actor, "kind" | "id"> };

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRecord> {
  const { rows } = await tx.run(INSERT, [
    key.projectId,
    key.environmentId,
    key.name,
    key.secretHash,
    key.lastFour,
    key.scopes,
    key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
    key.createdBy.kind,
    key.createdBy.id,
  ]);
  return readRecord(rows[0] ?? []);
}

const END_AFTER = statement(
  "api_keys.end_after",
  `
  update control.api_keys as k
  set expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => $2))
  where k.id = $1
  returning ${COLUMNS}`,
);

/** Never later than it would have ended anyway. */
export async function endApiKeyAfter(tx: Tx, id: number, seconds: number): Promise<ApiKeyRecord> {
  const { rows } = await tx.run(END_AFTER, [id, seconds]);
  return readRecord(rows[0] ?? []);
}

const REVOKE = statement(
  "api_keys.revoke",
  `
  update control.api_keys as k
  set revoked_at = clock_timestamp()
  where k.id = $1
    and k.revoked_at is null
  returning ${COLUMNS}`,
);

export async function revokeApiKey(tx: Tx, id: number): Promise<ApiKeyRecord> {
  const { rows } = await tx.run(REVOKE, [id]);
  return readRecord(rows[0] ?? []);
}
