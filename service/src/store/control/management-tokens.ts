import { readInteger, readText } from "../../postgres/column.ts";
import {
  boolean,
  derive,
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
import { lesserRole } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { creator } from "./creator.ts";
import { role } from "./member-roles.ts";
import { environmentKind } from "./scopes.ts";

const IS_VALID = `
  t.revoked_at is null
  and (t.expires_at is null or t.expires_at > clock_timestamp())
  and t.created_by_kind is not null
  and not exists (
    select from control.members as r
    where r.id = t.root_member_id
      and (r.removed_at is not null or r.role = 'none')
  )`;

const TOKEN = describeRow({
  id: integer("t.id"),
  workspaceId: integer("t.workspace_id"),
  name: text("t.name"),
  /** The token's role, limited to the current role of the root member. A root member without a role makes the token invalid. */
  role: derive(
    describeRow({
      own: role("t.role"),
      root: orNull(
        role("(select r.role from control.members as r where r.id = t.root_member_id and r.role <> 'none')"),
      ),
    }),
    ({ own, root }) => (root === null ? own : lesserRole(own, root)),
  ),
  /** Whether the token may manage members, links and tokens. */
  managesAccess: boolean("t.manages_access"),
  /** The member at the start of the chain of creators. Null if the chain starts with a command. */
  rootMemberId: orNull(integer("t.root_member_id")),
  /** The token's creator. If null, the creator is unknown and the token is invalid. */
  createdBy: creator("t"),
  /** The environment to which the token is limited. Null for the whole workspace. */
  environment: orNull(
    describeRow({
      projectId: id<ProjectId>("t.project_id"),
      environmentId: id<EnvironmentId>("t.environment_id"),
    }),
  ),
  environmentKind: orNull(
    environmentKind("(select e.kind from control.environments as e where e.id = t.environment_id)"),
  ),
  lastFour: text("t.last_four"),
  createdAt: instant("t.created_at"),
  expiresAt: orNull(instant("t.expires_at")),
  revokedAt: orNull(instant("t.revoked_at")),
  lastUsedAt: orNull(instant("t.last_used_at")),
  /** True if the token is not revoked, has not expired according to the database clock, and its root member has not been removed. */
  isValid: boolean(`(${IS_VALID})`),
});

export type ManagementToken = RowOf<typeof TOKEN>;

const FIND_LIVE = statement(
  "management_tokens.find_live",
  `
  select ${TOKEN.list}
  from control.management_tokens as t
  where t.secret_hash = $1
    and ${IS_VALID}`,
);

/** Finds a valid token. Null for revoked, expired and unknown tokens, and for tokens of removed members. */
export function findLiveManagementToken(tx: Tx, secretHash: Buffer): Promise<ManagementToken | null> {
  return findRow(tx, FIND_LIVE, [secretHash], TOKEN);
}

const TOUCH = statement(
  "management_tokens.touch",
  `
  update control.management_tokens
  set last_used_at = clock_timestamp()
  where id = $1
    and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
);

/** Records the token's last use, at most once a minute to save writes. */
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
  returning ${TOKEN.list}`,
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

export function insertManagementToken(tx: Tx, token: NewManagementToken): Promise<ManagementToken> {
  return getRow(
    tx,
    INSERT,
    [
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
    ],
    TOKEN,
  );
}

const LIST = statement(
  "management_tokens.list",
  `
  select ${TOKEN.list}
  from control.management_tokens as t
  where t.workspace_id = $1
    and ($2::bigint is null or t.id < $2::bigint)
  order by t.id desc
  limit $3`,
);

/** Lists the workspace's tokens, newest first. */
export function listManagementTokens(
  tx: Tx,
  page: { workspaceId: number; before: number | null; limit: number },
): Promise<ManagementToken[]> {
  return listRows(tx, LIST, [page.workspaceId, page.before, page.limit], TOKEN);
}

const LIST_OF_MEMBER = statement(
  "management_tokens.list_of_member",
  `
  select ${TOKEN.list}
  from control.management_tokens as t
  where t.root_member_id = $1
    and ${IS_VALID}
  order by t.last_used_at desc nulls last, t.id desc
  limit $2`,
);

/** Valid tokens created by a member or the member's tokens, most recently used first. */
export function listTokensOfMember(
  tx: Tx,
  memberId: number,
  limit: number | null = null,
): Promise<ManagementToken[]> {
  return listRows(tx, LIST_OF_MEMBER, [memberId, limit], TOKEN);
}

const LIST_DESCENDANTS = statement(
  "management_tokens.list_descendants",
  `
  with recursive descendants as (
    select t.id
    from control.management_tokens as t
    where t.workspace_id = $1
      and t.created_by_kind = 'token'
      and t.created_by_id = $2::integer::text
    union
    select t.id
    from descendants as d
    join control.management_tokens as t
      on t.workspace_id = $1
      and t.created_by_kind = 'token'
      and t.created_by_id = d.id::text
  )
  select ${TOKEN.list}
  from control.management_tokens as t
  where t.id in (select d.id from descendants as d)
    and t.revoked_at is null
  order by t.id`,
);

/** Lists tokens that were created with this token, directly or indirectly, and are not revoked. */
export function listDescendantTokens(
  tx: Tx,
  token: { workspaceId: number; id: number },
): Promise<ManagementToken[]> {
  return listRows(tx, LIST_DESCENDANTS, [token.workspaceId, token.id], TOKEN);
}

const LOCK = statement(
  "management_tokens.lock",
  `
  select ${TOKEN.list}
  from control.management_tokens as t
  where t.workspace_id = $1
    and t.id = $2
  for update`,
);

/** Finds a token and locks it until the transaction ends. Null if the workspace has no such token. */
export function lockManagementToken(
  tx: Tx,
  token: { workspaceId: number; id: number },
): Promise<ManagementToken | null> {
  return findRow(tx, LOCK, [token.workspaceId, token.id], TOKEN);
}

const REVOKE = statement(
  "management_tokens.revoke",
  `
  update control.management_tokens as t
  set revoked_at = clock_timestamp()
  where t.workspace_id = $1
    and t.id = any($2::integer[])
    and t.revoked_at is null
  returning ${TOKEN.list}`,
);

/** Revokes these tokens of the workspace. Returns the tokens that were not already revoked, in any order. */
export function revokeManagementTokens(
  tx: Tx,
  { workspaceId, ids }: { workspaceId: number; ids: readonly number[] },
): Promise<ManagementToken[]> {
  return listRows(tx, REVOKE, [workspaceId, ids], TOKEN);
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

/**
 * Counts valid tokens created by this member or the member's tokens. If `rootMemberId` is null, counts tokens whose chain of creators
 * starts with a command-line token.
 */
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
