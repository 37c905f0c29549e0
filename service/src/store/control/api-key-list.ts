import { readInteger, readText } from "../../postgres/column.ts";
import {
  boolean,
  describeRow,
  findRow,
  getRow,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { scopes } from "./api-keys.ts";
import { creator, isCreatedByMember } from "./creator.ts";
import { environmentKind } from "./scopes.ts";

const IS_VALID = "(k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()))";

const KEY = describeRow({
  id: integer("k.id"),
  workspaceId: integer("(select p.workspace_id from control.projects as p where p.id = k.project_id)"),
  projectId: id<ProjectId>("k.project_id"),
  environmentId: id<EnvironmentId>("k.environment_id"),
  environmentKind: environmentKind(
    "(select e.kind from control.environments as e where e.id = k.environment_id)",
  ),
  /** The key's creator. Null if unknown. */
  createdBy: creator("k"),
  name: text("k.name"),
  lastFour: text("k.last_four"),
  scopes: scopes("k.scopes"),
  createdAt: instant("k.created_at"),
  expiresAt: orNull(instant("k.expires_at")),
  revokedAt: orNull(instant("k.revoked_at")),
  lastUsedAt: orNull(instant("k.last_used_at")),
  /** True if the key is not revoked and has not expired according to the database clock. */
  isValid: boolean(IS_VALID),
});

/** A key without its secret, of which only a hash is stored. */
export type ApiKeyRecord = RowOf<typeof KEY>;

const LIST = statement(
  "api_keys.list",
  `
  select ${KEY.list}
  from control.api_keys as k
  where k.environment_id = $1
    and ($2::bigint is null or k.id < $2::bigint)
  order by k.id desc
  limit $3`,
);

/** Lists an environment's keys, newest first. */
export function listApiKeys(
  tx: Tx,
  page: { environmentId: EnvironmentId; before: number | null; limit: number },
): Promise<ApiKeyRecord[]> {
  return listRows(tx, LIST, [page.environmentId, page.before, page.limit], KEY);
}

const LIST_CREATED_BY = statement(
  "api_keys.list_created_by",
  `
  select ${KEY.list}
  from control.projects as p
  join control.api_keys as k on k.project_id = p.id
  where p.workspace_id = $1
    and ${IS_VALID}
    and ${isCreatedByMember("k", "$2")}
  order by k.last_used_at desc nulls last, k.id desc
  limit $3`,
);

/** Valid keys created by a member or the member's tokens, most recently used first. */
export function listApiKeysCreatedBy(
  tx: Tx,
  { workspaceId, memberId }: { workspaceId: number; memberId: number },
  limit: number,
): Promise<ApiKeyRecord[]> {
  return listRows(tx, LIST_CREATED_BY, [workspaceId, memberId, limit], KEY);
}

const FIND_CREATED_BY = statement(
  "api_keys.find_created_by",
  `
  select ${KEY.list}
  from control.api_keys as k
  join control.projects as p on p.id = k.project_id
  where k.id = any($3::integer[])
    and p.workspace_id = $1
    and ${isCreatedByMember("k", "$2")}
  order by k.id`,
);

/** Keys among `ids` created by a member or the member's tokens, including revoked and expired ones. */
export function findApiKeysCreatedBy(
  tx: Tx,
  { workspaceId, memberId, ids }: { workspaceId: number; memberId: number; ids: readonly number[] },
): Promise<ApiKeyRecord[]> {
  return listRows(tx, FIND_CREATED_BY, [workspaceId, memberId, ids], KEY);
}

const LIST_NAMES = statement(
  "api_keys.list_names",
  `
  select k.id, k.name
  from control.api_keys as k
  join control.projects as p on p.id = k.project_id
  where k.id = any($2::integer[])
    and p.workspace_id = $1`,
);

export async function listApiKeyNames(
  tx: Tx,
  { workspaceId, ids }: { workspaceId: number; ids: readonly number[] },
): Promise<Map<number, string>> {
  const { rows } = await tx.run(LIST_NAMES, [workspaceId, ids]);
  return new Map(rows.map(([id, name]) => [readInteger(id), readText(name)]));
}

const LOCK = statement(
  "api_keys.lock",
  `
  select ${KEY.list}
  from control.api_keys as k
  where k.environment_id = $1
    and k.id = $2
  for update of k`,
);

/** Finds a key and locks it until the transaction ends. Null if the environment has no such key. */
export function lockApiKey(
  tx: Tx,
  key: { environmentId: EnvironmentId; id: number },
): Promise<ApiKeyRecord | null> {
  return findRow(tx, LOCK, [key.environmentId, key.id], KEY);
}

const LOCK_BY_SECRET = statement(
  "api_keys.lock_by_secret",
  `
  select ${KEY.list}
  from control.api_keys as k
  where k.secret_hash = $1
  for update of k`,
);

export function lockApiKeyBySecret(tx: Tx, secretHash: Buffer): Promise<ApiKeyRecord | null> {
  return findRow(tx, LOCK_BY_SECRET, [secretHash], KEY);
}

const INSERT = statement(
  "api_keys.insert",
  `
  insert into control.api_keys as k
    (project_id, environment_id, name, secret_hash, last_four, scopes, expires_at, created_by_kind, created_by_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning ${KEY.list}`,
);

export type NewApiKey = Pick<
  ApiKeyRecord,
  "projectId" | "environmentId" | "name" | "lastFour" | "scopes" | "expiresAt"
> & { readonly secretHash: Buffer; readonly createdBy: Pick<Actor, "kind" | "id"> };

export function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRecord> {
  return getRow(
    tx,
    INSERT,
    [
      key.projectId,
      key.environmentId,
      key.name,
      key.secretHash,
      key.lastFour,
      key.scopes,
      key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
      key.createdBy.kind,
      key.createdBy.id,
    ],
    KEY,
  );
}

const END_AFTER = statement(
  "api_keys.end_after",
  `
  update control.api_keys as k
  set expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => $2))
  where k.id = $1
  returning ${KEY.list}`,
);

/** Makes the key expire after `seconds` seconds, unless it expires earlier anyway. */
export function endApiKeyAfter(tx: Tx, id: number, seconds: number): Promise<ApiKeyRecord> {
  return getRow(tx, END_AFTER, [id, seconds], KEY);
}

const REVOKE = statement(
  "api_keys.revoke",
  `
  update control.api_keys as k
  set revoked_at = clock_timestamp()
  where k.id = $1
    and k.revoked_at is null
  returning ${KEY.list}`,
);

export function revokeApiKey(tx: Tx, id: number): Promise<ApiKeyRecord> {
  return getRow(tx, REVOKE, [id], KEY);
}
