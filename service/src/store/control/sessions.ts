import { readBoolean } from "../../postgres/column.ts";
import {
  boolean,
  column,
  describeRow,
  findRow,
  instant,
  integer,
  listRows,
  orNull,
  type Part,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { Role } from "../../primitives/role.ts";
import { projectRoles, workspaceRole } from "./member-roles.ts";
import { hasPasskey } from "./members.ts";
import { FACTORS } from "./passkeys.ts";
import { obeysRules, ruleValues, type SessionRules } from "./session-rules.ts";

/** The way a session was opened. `password` stands for a password or a link, without a second factor. */
const OPENED_WITH = ["password", "passkey", "recovery_code", "single_sign_on"] as const;
export type OpenedWith = (typeof OPENED_WITH)[number];

function openedWith(sql: string): Part<OpenedWith> {
  return column((value) => {
    const known = OPENED_WITH.find((one) => one === value);
    assert(known !== undefined, "a known way to open a session");
    return known;
  }, sql);
}

const SESSION_MEMBER = describeRow({
  sessionId: integer("s.id"),
  memberId: integer("m.id"),
  workspaceId: integer("m.workspace_id"),
  email: text("m.email"),
  name: text("m.name"),
  role: workspaceRole("m.role"),
  projectRoles: projectRoles("m.id"),
  openedWith: openedWith("s.opened_with"),
  factors: FACTORS,
});

/** The member who owns a session. */
export type SessionMember = RowOf<typeof SESSION_MEMBER>;

const FIND = statement(
  "sessions.find",
  `
  select ${SESSION_MEMBER.list}
  from control.sessions as s
  join control.members as m on m.id = s.member_id
  join control.workspaces as w on w.id = m.workspace_id
  where s.token_hash = $1
    and ${obeysRules("$2", "$3", "$4")}
    and m.removed_at is null`,
);

export function findSession(
  tx: Tx,
  { tokenHash, rules }: { tokenHash: Buffer; rules: SessionRules },
): Promise<SessionMember | null> {
  return findRow(tx, FIND, [tokenHash, ...ruleValues(rules)], SESSION_MEMBER);
}

const EXISTS = statement(
  "sessions.exists",
  `
  select exists (
    select from control.sessions as s
    where s.token_hash = $1
      and s.expires_at > clock_timestamp()
  )`,
);

/** Whether the session still exists. False after a logout, a password change or a revocation. */
export async function isSessionOpen(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { rows } = await tx.run(EXISTS, [tokenHash]);
  return readBoolean(rows[0]?.[0]);
}

const RECENT = describeRow({ openedWith: openedWith("s.opened_with"), hasPasskey: hasPasskey("m") });

export type RecentSession = RowOf<typeof RECENT>;

const FIND_RECENT = statement(
  "sessions.find_recent",
  `
  select ${RECENT.list}
  from control.sessions as s
  join control.members as m on m.id = s.member_id
  where s.token_hash = $1
    and s.expires_at > clock_timestamp()
    and s.created_at > clock_timestamp() - make_interval(secs => $2)`,
);

/** Null if the session has ended, or was not opened within the last `seconds`. */
export function findRecentSession(
  tx: Tx,
  session: { tokenHash: Buffer; seconds: number },
): Promise<RecentSession | null> {
  return findRow(tx, FIND_RECENT, [session.tokenHash, session.seconds], RECENT);
}

const INSERT = statement(
  "sessions.insert",
  `
  insert into control.sessions (token_hash, member_id, expires_at, address, user_agent, opened_with, issuer)
  values ($1, $2, clock_timestamp() + make_interval(secs => $3), $4, $5, $6, $7)`,
);

export async function insertSession(
  tx: Tx,
  session: {
    tokenHash: Buffer;
    memberId: number;
    seconds: number;
    address: string | null;
    userAgent: string | null;
    openedWith: OpenedWith;
    /** The single sign-on provider that opened the session. */
    issuer?: string | null;
  },
): Promise<void> {
  const { tokenHash, memberId, seconds, address, userAgent, openedWith, issuer = null } = session;
  await tx.run(INSERT, [tokenHash, memberId, seconds, address, userAgent, openedWith, issuer]);
}

const ADD_PASSKEY = statement(
  "sessions.add_passkey",
  `
  update control.sessions
  set opened_with = 'passkey'
  where token_hash = $1
    and opened_with = 'password'`,
);

/** Records that the session's member has used a passkey in it, so that the session stays valid. */
export async function addPasskeyToSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.run(ADD_PASSKEY, [tokenHash]);
}

const LISTED = describeRow({
  id: integer("s.id"),
  createdAt: instant("s.created_at"),
  lastUsedAt: instant("s.last_used_at"),
  expiresAt: instant("s.expires_at"),
  address: orNull(text("s.address")),
  userAgent: orNull(text("s.user_agent")),
  openedWith: openedWith("s.opened_with"),
  isCurrent: boolean("s.token_hash = $2"),
});

export type ListedSession = RowOf<typeof LISTED>;

const LIST = statement(
  "sessions.list",
  `
  select ${LISTED.list}
  from control.sessions as s
  join control.members as m on m.id = s.member_id
  where s.member_id = $1
    and ${obeysRules("$3", "$4", "$5")}
  order by s.last_used_at desc, s.id desc`,
);

/** The member's open sessions, most recently used first. */
export function listSessions(
  tx: Tx,
  of: { memberId: number; tokenHash: Buffer; rules: SessionRules },
): Promise<ListedSession[]> {
  return listRows(tx, LIST, [of.memberId, of.tokenHash, ...ruleValues(of.rules)], LISTED);
}

const TOUCH = statement(
  "sessions.touch",
  `
  update control.sessions as s
  set last_used_at = clock_timestamp(), address = u.address
  from unnest($1::integer[], $2::text[]) as u (id, address)
  where s.id = u.id`,
);

/** Records the last use of sessions. Written in batches, so a crash can lose up to a minute of updates. */
export async function touchSessions(tx: Tx, uses: ReadonlyMap<number, string>): Promise<void> {
  await tx.run(TOUCH, [[...uses.keys()], [...uses.values()]]);
}

const DELETE = statement(
  "sessions.delete",
  "delete from control.sessions where token_hash = $1 returning issuer is not null",
);

/** Deletes the session. Returns whether single sign-on opened it. */
export async function deleteSession(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { rows } = await tx.run(DELETE, [tokenHash]);
  return rows.some(([isSignedOn]) => readBoolean(isSignedOn));
}

const DELETE_OWN = statement(
  "sessions.delete_own",
  "delete from control.sessions where member_id = $1 and id = $2",
);

/** Ends one of the member's sessions. False if the member has no such session. */
export async function deleteOwnSession(tx: Tx, session: { memberId: number; id: number }): Promise<boolean> {
  const { rowCount } = await tx.run(DELETE_OWN, [session.memberId, session.id]);
  return rowCount === 1;
}

const DELETE_BEYOND = statement(
  "sessions.delete_beyond",
  `
  delete from control.sessions
  where member_id = $1
    and id in (
      select id
      from control.sessions
      where member_id = $1
      order by last_used_at desc, id desc
      offset $2
    )`,
);

/** Deletes all sessions of the member except the `kept` most recently used ones. */
export async function deleteSessionsBeyond(
  tx: Tx,
  { memberId, kept }: { memberId: number; kept: number },
): Promise<void> {
  await tx.run(DELETE_BEYOND, [memberId, kept]);
}

const DELETE_OF_MEMBER = statement(
  "sessions.delete_of_member",
  "delete from control.sessions where member_id = $1",
);

export async function deleteSessionsOf(tx: Tx, memberId: number): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OF_MEMBER, [memberId]);
  return rowCount;
}

const DELETE_SIGNED_ON = statement(
  "sessions.delete_signed_on",
  "delete from control.sessions where member_id = $1 and issuer is not null",
);

/** Deletes the sessions that single sign-on opened for the member. */
export async function deleteSignedOnSessionsOf(tx: Tx, memberId: number): Promise<number> {
  const { rowCount } = await tx.run(DELETE_SIGNED_ON, [memberId]);
  return rowCount;
}

const DELETE_OTHERS = statement(
  "sessions.delete_others",
  "delete from control.sessions where member_id = $1 and token_hash <> $2",
);

export async function deleteOtherSessionsOf(
  tx: Tx,
  session: { memberId: number; tokenHash: Buffer },
): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OTHERS, [session.memberId, session.tokenHash]);
  return rowCount;
}

const DELETE_WITHOUT_FACTOR = statement(
  "sessions.delete_without_factor",
  `
  delete from control.sessions as s
  using control.members as m
  where m.id = s.member_id
    and m.workspace_id = $1
    and (
      m.role = any($2::text[])
      or exists (select from control.member_roles as r where r.member_id = m.id and r.role = any($2))
    )
    and s.opened_with = 'password'`,
);

/** Ends the sessions that members with one of these roles, anywhere, opened without a second factor. */
export async function deleteSessionsWithoutFactor(
  tx: Tx,
  of: { workspaceId: number; roles: readonly Role[] },
): Promise<number> {
  const { rowCount } = await tx.run(DELETE_WITHOUT_FACTOR, [of.workspaceId, of.roles]);
  return rowCount;
}

const DELETE_ENDED = statement(
  "sessions.delete_ended",
  "delete from control.sessions where expires_at <= clock_timestamp()",
);

export async function deleteEndedSessions(tx: Tx): Promise<void> {
  await tx.run(DELETE_ENDED);
}
