import { readInteger, readText } from "../../postgres/column.ts";
import {
  boolean,
  describeRow,
  findRow,
  instant,
  integer,
  listRows,
  orNull,
  type Part,
  type RowOf,
  text,
  textList,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Role } from "../../primitives/role.ts";
import { projectRoles, storedRole, workspaceRole } from "./member-roles.ts";

export function hasPasskey(member: string): Part<boolean> {
  return boolean(`exists (select from control.passkeys as p where p.member_id = ${member}.id)`);
}

const MEMBER = describeRow({
  id: integer("m.id"),
  workspaceId: integer("m.workspace_id"),
  email: text("m.email"),
  name: text("m.name"),
  /** Null if the member has roles only in projects. */
  role: workspaceRole("m.role"),
  projectRoles: projectRoles("m.id"),
  /** Null if the member has not set a password. */
  passwordHash: orNull(text("m.password_hash")),
  /** The single sign-on providers at which the member has connected an account, also those of earlier settings. */
  issuers: textList("array(select i.issuer from control.identities as i where i.member_id = m.id)"),
  createdAt: instant("m.created_at"),
  hasPasskey: hasPasskey("m"),
});

export type Member = RowOf<typeof MEMBER>;

const COUNT = statement("members.count", "select count(*) from control.members where removed_at is null");

export async function countMembers(tx: Tx): Promise<number> {
  const { rows } = await tx.run(COUNT);
  return readInteger(rows[0]?.[0]);
}

const LOCK = statement(
  "members.lock_workspaces",
  "select w.id from control.workspaces as w order by w.id for update",
);

/** Serializes membership changes, so that the first owner is created only once and the last owner cannot be removed. */
export async function lockMembership(tx: Tx): Promise<void> {
  await tx.run(LOCK);
}

const FIND_BY_EMAIL = statement(
  "members.find_by_email",
  `select ${MEMBER.list} from control.members as m where m.email = $1 and m.removed_at is null`,
);

/** Finds a member. `email` must be in lower case. */
export function findMemberByEmail(tx: Tx, email: string): Promise<Member | null> {
  return findRow(tx, FIND_BY_EMAIL, [email], MEMBER);
}

const FIND = statement(
  "members.find",
  `select ${MEMBER.list} from control.members as m where m.workspace_id = $1 and m.id = $2 and m.removed_at is null`,
);

export function findMember(
  tx: Tx,
  { workspaceId, id }: { workspaceId: number; id: number },
): Promise<Member | null> {
  return findRow(tx, FIND, [workspaceId, id], MEMBER);
}

const FIND_BY_ID = statement(
  "members.find_by_id",
  `select ${MEMBER.list} from control.members as m where m.id = $1 and m.removed_at is null`,
);

/** Finds a member by ID alone, for callers identified by a link, whose workspace is not known yet. */
export function findMemberById(tx: Tx, id: number): Promise<Member | null> {
  return findRow(tx, FIND_BY_ID, [id], MEMBER);
}

const LIST = statement(
  "members.list",
  `
  select ${MEMBER.list}
  from control.members as m
  where m.workspace_id = $1
    and m.removed_at is null
    and m.id > $2::bigint
  order by m.id
  limit $3`,
);

export function listMembers(
  tx: Tx,
  page: { workspaceId: number; after: number; limit: number },
): Promise<Member[]> {
  return listRows(tx, LIST, [page.workspaceId, page.after, page.limit], MEMBER);
}

const LIST_OTHER_OWNERS = statement(
  "members.list_other_owners",
  `
  select ${MEMBER.list}
  from control.members as m
  where m.workspace_id = $1
    and m.id <> $2
    and m.role = 'owner'
    and m.removed_at is null`,
);

/** Lists the other owners, also those who cannot log in. */
export function listOtherOwners(
  tx: Tx,
  { workspaceId, id }: { workspaceId: number; id: number },
): Promise<Member[]> {
  return listRows(tx, LIST_OTHER_OWNERS, [workspaceId, id], MEMBER);
}

const INSERT = statement(
  "members.insert",
  `
  insert into control.members (workspace_id, email, name, role, password_hash)
  values ($1, $2, $3, $4, $5)
  returning id`,
);

export async function insertMember(
  tx: Tx,
  member: Omit<Member, "id" | "projectRoles" | "createdAt" | "hasPasskey" | "issuers">,
): Promise<number> {
  const { workspaceId, email, name, role, passwordHash } = member;
  const { rows } = await tx.run(INSERT, [workspaceId, email, name, storedRole(role), passwordHash]);
  return readInteger(rows[0]?.[0]);
}

const UPDATE = statement(
  "members.update",
  "update control.members set name = $2, role = $3 where id = $1 and removed_at is null",
);

export async function updateMember(
  tx: Tx,
  member: { id: number; name: string; role: Role | null },
): Promise<void> {
  await tx.run(UPDATE, [member.id, member.name, storedRole(member.role)]);
}

const SET_PASSWORD = statement(
  "members.set_password",
  "update control.members set password_hash = $2 where id = $1 and removed_at is null",
);

export async function setPassword(tx: Tx, member: { id: number; passwordHash: string }): Promise<void> {
  await tx.run(SET_PASSWORD, [member.id, member.passwordHash]);
}

const REPLACE_PASSWORD = statement(
  "members.replace_password",
  `
  update control.members
  set password_hash = $3
  where id = $1
    and password_hash = $2
    and removed_at is null`,
);

/** Replaces a member's password. False if the password has changed since it was checked. */
export async function replacePassword(
  tx: Tx,
  member: { id: number; before: string; after: string },
): Promise<boolean> {
  const { rowCount } = await tx.run(REPLACE_PASSWORD, [member.id, member.before, member.after]);
  return rowCount === 1;
}

const HOLD_PASSWORD = statement(
  "members.hold_password",
  `
  select
  from control.members
  where id = $1
    and password_hash = $2
    and removed_at is null
  for share`,
);

/** True if the password is unchanged since it was checked. Locks the member's row until the transaction ends. */
export async function holdPassword(tx: Tx, member: { id: number; passwordHash: string }): Promise<boolean> {
  const { rowCount } = await tx.run(HOLD_PASSWORD, [member.id, member.passwordHash]);
  return rowCount === 1;
}

const REMOVE = statement(
  "members.remove",
  "update control.members set removed_at = clock_timestamp() where id = $1 and removed_at is null",
);

export async function removeMember(tx: Tx, id: number): Promise<void> {
  await tx.run(REMOVE, [id]);
}

const LIST_NAMES = statement(
  "members.list_names",
  `
  select m.id, m.name
  from control.members as m
  where m.workspace_id = $1
    and m.id = any($2::integer[])`,
);

/** The names of members, including removed ones. */
export async function listMemberNames(
  tx: Tx,
  { workspaceId, ids }: { workspaceId: number; ids: readonly number[] },
): Promise<Map<number, string>> {
  const { rows } = await tx.run(LIST_NAMES, [workspaceId, ids]);
  return new Map(rows.map(([id, name]) => [readInteger(id), readText(name)]));
}
