import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../words/brand.ts";
import type { Role } from "../../words/role.ts";
import { readRole } from "./members.ts";

/** All that a request needs to know of the person who sent it. */
export type SessionMember = {
  readonly sessionId: number;
  readonly memberId: number;
  readonly workspaceId: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
};

const FIND = statement(
  "sessions.find",
  `
  select s.id, m.id, m.workspace_id, m.email, m.name, m.role
  from control.sessions as s
  join control.members as m on m.id = s.member_id
  where s.token_hash = $1
    and s.expires_at > clock_timestamp()
    and s.last_used_at > clock_timestamp() - make_interval(secs => $2)
    and m.removed_at is null`,
);

export async function findSession(
  tx: Tx,
  { tokenHash, idleSeconds }: { tokenHash: Buffer; idleSeconds: number },
): Promise<SessionMember | null> {
  const { rows } = await tx.run(FIND, [tokenHash, idleSeconds]);
  if (rows[0] === undefined) return null;
  const [sessionId, memberId, workspaceId, email, name, role] = rows[0];
  return {
    sessionId: readInteger(sessionId),
    memberId: readInteger(memberId),
    workspaceId: readInteger(workspaceId),
    email: readText(email),
    name: readText(name),
    role: readRole(role),
  };
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

/** Whether it is still there: neither logged out, nor ended by a new password or somebody else. */
export async function isSessionOpen(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { rows } = await tx.run(EXISTS, [tokenHash]);
  return readBoolean(rows[0]?.[0]);
}

const INSERT = statement(
  "sessions.insert",
  `
  insert into control.sessions (token_hash, member_id, expires_at, address, user_agent)
  values ($1, $2, clock_timestamp() + make_interval(secs => $3), $4, $5)`,
);

export async function insertSession(
  tx: Tx,
  session: {
    tokenHash: Buffer;
    memberId: number;
    seconds: number;
    address: string | null;
    userAgent: string | null;
  },
): Promise<void> {
  const { tokenHash, memberId, seconds, address, userAgent } = session;
  await tx.run(INSERT, [tokenHash, memberId, seconds, address, userAgent]);
}

export type ListedSession = {
  readonly id: number;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant;
  readonly expiresAt: Instant;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly isCurrent: boolean;
};

const LIST = statement(
  "sessions.list",
  `
  select
    s.id,
    (extract(epoch from s.created_at) * 1000)::bigint,
    (extract(epoch from s.last_used_at) * 1000)::bigint,
    (extract(epoch from s.expires_at) * 1000)::bigint,
    s.address,
    s.user_agent,
    s.token_hash = $2
  from control.sessions as s
  where s.member_id = $1
    and s.expires_at > clock_timestamp()
    and s.last_used_at > clock_timestamp() - make_interval(secs => $3)
  order by s.last_used_at desc, s.id desc`,
);

/** The member's sessions that have not ended, the last used first. */
export async function listSessions(
  tx: Tx,
  of: { memberId: number; tokenHash: Buffer; idleSeconds: number },
): Promise<ListedSession[]> {
  const { rows } = await tx.run(LIST, [of.memberId, of.tokenHash, of.idleSeconds]);
  return rows.map(([id, createdAt, lastUsedAt, expiresAt, address, userAgent, isCurrent]) => ({
    id: readInteger(id),
    createdAt: readInstant(createdAt),
    lastUsedAt: readInstant(lastUsedAt),
    expiresAt: readInstant(expiresAt),
    address: readNullable(address, readText),
    userAgent: readNullable(userAgent, readText),
    isCurrent: readBoolean(isCurrent),
  }));
}

const TOUCH = statement(
  "sessions.touch",
  `
  update control.sessions as s
  set last_used_at = clock_timestamp(), address = u.address
  from unnest($1::integer[], $2::text[]) as u (id, address)
  where s.id = u.id`,
);

/** Last use and from where. Written in batches; a crash loses a minute of it. */
export async function touchSessions(tx: Tx, uses: ReadonlyMap<number, string>): Promise<void> {
  await tx.run(TOUCH, [[...uses.keys()], [...uses.values()]]);
}

const DELETE = statement("sessions.delete", "delete from control.sessions where token_hash = $1");

export async function deleteSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.run(DELETE, [tokenHash]);
}

const DELETE_OWN = statement(
  "sessions.delete_own",
  "delete from control.sessions where member_id = $1 and id = $2",
);

/** False: the member has no such session. */
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

/** All but so many that were used last. */
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

/** Wherever they are signed in. */
export async function deleteSessionsOf(tx: Tx, memberId: number): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OF_MEMBER, [memberId]);
  return rowCount;
}

const DELETE_OTHERS = statement(
  "sessions.delete_others",
  "delete from control.sessions where member_id = $1 and token_hash <> $2",
);

/** Wherever else they are signed in. */
export async function deleteOtherSessionsOf(
  tx: Tx,
  session: { memberId: number; tokenHash: Buffer },
): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OTHERS, [session.memberId, session.tokenHash]);
  return rowCount;
}

const DELETE_ENDED = statement(
  "sessions.delete_ended",
  "delete from control.sessions where expires_at <= clock_timestamp()",
);

export async function deleteEndedSessions(tx: Tx): Promise<void> {
  await tx.run(DELETE_ENDED);
}
