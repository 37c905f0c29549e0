import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import { brandAs, type EnvironmentId, type Instant, type ProjectId } from "../../words/brand.ts";
import { lesserRole, type Role } from "../../words/role.ts";
import type { EnvironmentKind } from "../../words/secret.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { type Creator, creatorColumns, readCreator } from "./creator.ts";
import { readEnvironmentKind } from "./environment-kind.ts";
import { readRole } from "./members.ts";

export type ManagementToken = {
  readonly id: number;
  readonly workspaceId: number;
  readonly name: string;
  /** Never above the present role of the member who began the chain of creators. */
  readonly role: Role;
  /** Whether it may manage members, links and tokens. */
  readonly managesAccess: boolean;
  /** Null: unknown, and the token is not valid. */
  readonly createdBy: Creator | null;
  /** The member who began the chain of creators. Null: a command did. */
  readonly rootMemberId: number | null;
  /** Null: all of the workspace. */
  readonly environment: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId } | null;
  readonly environmentKind: EnvironmentKind | null;
  readonly lastFour: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  readonly lastUsedAt: Instant | null;
  /** Neither revoked nor expired, by the database's clock, and its root member was not removed. */
  readonly isValid: boolean;
};

const IS_VALID = `
  t.revoked_at is null
  and (t.expires_at is null or t.expires_at > clock_timestamp())
  and t.created_by_kind is not null
  and not exists (
    select from control.members as r where r.id = t.root_member_id and r.removed_at is not null
  )`;

const COLUMNS = `
  t.id,
  t.workspace_id,
  t.name,
  t.role,
  (select r.role from control.members as r where r.id = t.root_member_id),
  t.manages_access,
  t.root_member_id,
  ${creatorColumns("t")},
  t.project_id,
  t.environment_id,
  (select e.kind from control.environments as e where e.id = t.environment_id),
  t.last_four,
  (extract(epoch from t.created_at) * 1000)::bigint,
  (extract(epoch from t.expires_at) * 1000)::bigint,
  (extract(epoch from t.revoked_at) * 1000)::bigint,
  (extract(epoch from t.last_used_at) * 1000)::bigint,
  (${IS_VALID})`;

function readToken(row: readonly unknown[]): ManagementToken {
  const [id, workspaceId, name, role, rootRole, managesAccess, rootMemberId, ...rest] = row;
  const [creatorKind, creatorId, creatorName, projectId, environmentId, kind, lastFour, ...times] = rest;
  const [createdAt, expiresAt, revokedAt, lastUsedAt, isValid] = times;
  return {
    id: readInteger(id),
    workspaceId: readInteger(workspaceId),
    name: readText(name),
    role: rootRole === null ? readRole(role) : lesserRole(readRole(role), readRole(rootRole)),
    managesAccess: readBoolean(managesAccess),
    createdBy: readCreator(creatorKind, creatorId, creatorName),
    rootMemberId: readNullable(rootMemberId, readInteger),
    environment:
      projectId === null
        ? null
        : {
            projectId: brandAs<ProjectId>(readInteger(projectId)),
            environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
          },
    environmentKind: readNullable(kind, readEnvironmentKind),
    lastFour: readText(lastFour),
    createdAt: readInstant(createdAt),
    expiresAt: readNullable(expiresAt, readInstant),
    revokedAt: readNullable(revokedAt, readInstant),
    lastUsedAt: readNullable(lastUsedAt, readInstant),
    isValid: readBoolean(isValid),
  };
}

const FIND_LIVE = statement(
  "management_tokens.find_live",
  `
  select ${COLUMNS}
  from control.management_tokens as t
  where t.secret_hash = $1
    and ${IS_VALID}`,
);

/** Revoked, expired, of a removed member and never issued are one answer. */
export async function findLiveManagementToken(tx: Tx, secretHash: Buffer): Promise<ManagementToken | null> {
  const { rows } = await tx.run(FIND_LIVE, [secretHash]);
  return rows[0] === undefined ? null : readToken(rows[0]);
}

const TOUCH = statement(
  "management_tokens.touch",
  `
  update control.management_tokens
  set last_used_at = clock_timestamp()
  where id = $1
    and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
);

/** To the minute: automation that calls often must not write each time. */
export async function touchManagementToken(tx: Tx, id: number): Promise<void> {
  await tx.run(TOUCH, [id]);
}

const INSERT = statement(
  "management_tokens.insert",
  `
  insert into control.management_tokens as t
    (workspace_id, name, role, project_id, environment_id, secret_hash, last_four, expires_at, manages_access,
    root_member_id, created_by_kind, created_by_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  returning ${COLUMNS}`,
);

export type NewManagementToken = Pick<
  ManagementToken,
  | "workspaceId"
  | "name"
  | "role"
  | "managesAccess"
  | "rootMemberId"
  | "environment"
  | "lastFour"
  | "expiresAt"
> & { readonly secretHash: Buffer; readonly createdBy: Pick<Actor, "kind" | "id"> };

export async function insertManagementToken(tx: Tx, token: NewManagementToken): Promise<ManagementToken> {
  const { rows } = await tx.run(INSERT, [
    token.workspaceId,
    token.name,
    token.role,
    token.environment?.projectId ?? null,
    token.environment?.environmentId ?? null,
    token.secretHash,
    token.lastFour,
    token.expiresAt === null ? null : formatTimestamp(token.expiresAt),
    token.managesAccess,
    token.rootMemberId,
    token.createdBy.kind,
    token.createdBy.id,
  ]);
  return readToken(rows[0] ?? []);
}

const LIST = statement(
  "management_tokens.list",
  `
  select ${COLUMNS}
  from control.management_tokens as t
  where t.workspace_id = $1
    and ($2::bigint is null or t.id < $2::bigint)
  order by t.id desc
  limit $3`,
);

/** The newest first. */
export async function listManagementTokens(
  tx: Tx,
  page: { workspaceId: number; before: number | null; limit: number },
): Promise<ManagementToken[]> {
  const { rows } = await tx.run(LIST, [page.workspaceId, page.before, page.limit]);
  return rows.map(readToken);
}

const LIST_OF_MEMBER = statement(
  "management_tokens.list_of_member",
  `
  select ${COLUMNS}
  from control.management_tokens as t
  where t.root_member_id = $1
    and ${IS_VALID}
  order by t.last_used_at desc nulls last, t.id desc
  limit $2`,
);

/** Valid ones that a member created, and those that their tokens created; last used first. Without a limit: all. */
export async function listTokensOfMember(
  tx: Tx,
  memberId: number,
  limit: number | null = null,
): Promise<ManagementToken[]> {
  const { rows } = await tx.run(LIST_OF_MEMBER, [memberId, limit]);
  return rows.map(readToken);
}

const LIST_DESCENDANTS = statement(
  "management_tokens.list_descendants",
  `
  with recursive descendants as (
    select t.id
    from control.management_tokens as t
    where t.created_by_kind = 'token'
      and t.created_by_id = $1::integer::text
    union
    select t.id
    from descendants as d
    join control.management_tokens as t
      on t.created_by_kind = 'token'
      and t.created_by_id = d.id::text
  )
  select ${COLUMNS}
  from control.management_tokens as t
  where t.id in (select d.id from descendants as d)
    and t.revoked_at is null
  order by t.id`,
);

/** Those that were created with this token, and with those in turn, and are not revoked. */
export async function listDescendantTokens(tx: Tx, id: number): Promise<ManagementToken[]> {
  const { rows } = await tx.run(LIST_DESCENDANTS, [id]);
  return rows.map(readToken);
}

const LOCK = statement(
  "management_tokens.lock",
  `
  select ${COLUMNS}
  from control.management_tokens as t
  where t.workspace_id = $1
    and t.id = $2
  for update`,
);

/** Null: the workspace has no such token. */
export async function lockManagementToken(
  tx: Tx,
  token: { workspaceId: number; id: number },
): Promise<ManagementToken | null> {
  const { rows } = await tx.run(LOCK, [token.workspaceId, token.id]);
  return rows[0] === undefined ? null : readToken(rows[0]);
}

const REVOKE = statement(
  "management_tokens.revoke",
  `
  update control.management_tokens as t
  set revoked_at = clock_timestamp()
  where t.id = any($1::integer[])
    and t.revoked_at is null
  returning ${COLUMNS}`,
);

/** In no order. */
export async function revokeManagementTokens(tx: Tx, ids: readonly number[]): Promise<ManagementToken[]> {
  const { rows } = await tx.run(REVOKE, [ids]);
  return rows.map(readToken);
}

const COUNT_VALID = statement(
  "management_tokens.count_valid",
  `
  select count(*)
  from control.management_tokens as t
  where t.workspace_id = $1
    and (t.root_member_id = $2::integer or (t.root_member_id is null and $2::integer is null))
    and t.created_by_kind in ('member', 'token')
    and ${IS_VALID}`,
);

/** Valid ones that this member and their tokens created. Null: those that the command line's tokens created. */
export async function countValidTokens(
  tx: Tx,
  { workspaceId, rootMemberId }: Pick<ManagementToken, "workspaceId" | "rootMemberId">,
): Promise<number> {
  const { rows } = await tx.run(COUNT_VALID, [workspaceId, rootMemberId]);
  return readInteger(rows[0]?.[0]);
}

const LIST_NAMES = statement(
  "management_tokens.list_names",
  `
  select t.id, t.name
  from control.management_tokens as t
  where t.workspace_id = $1
    and t.id = any($2::integer[])`,
);

export async function listTokenNames(
  tx: Tx,
  { workspaceId, ids }: { workspaceId: number; ids: readonly number[] },
): Promise<Map<number, string>> {
  const { rows } = await tx.run(LIST_NAMES, [workspaceId, ids]);
  return new Map(rows.map(([id, name]) => [readInteger(id), readText(name)]));
}
