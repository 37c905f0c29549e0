import { readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Role } from "../../words/role.ts";
import { readRole } from "./members.ts";

/** All that a request needs to know of the person who sent it. */
export type SessionMember = {
  readonly memberId: number;
  readonly workspaceId: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
};

const FIND = statement(
  "sessions.find",
  `
  select m.id, m.workspace_id, m.email, m.name, m.role
  from control.sessions as s
  join control.members as m on m.id = s.member_id
  where s.token_hash = $1
    and s.expires_at > clock_timestamp()
    and m.removed_at is null`,
);

export async function findSession(tx: Tx, tokenHash: Buffer): Promise<SessionMember | null> {
  const { rows } = await tx.run(FIND, [tokenHash]);
  if (rows[0] === undefined) return null;
  const [memberId, workspaceId, email, name, role] = rows[0];
  return {
    memberId: readInteger(memberId),
    workspaceId: readInteger(workspaceId),
    email: readText(email),
    name: readText(name),
    role: readRole(role),
  };
}

const INSERT = statement(
  "sessions.insert",
  `
  insert into control.sessions (token_hash, member_id, expires_at)
  values ($1, $2, clock_timestamp() + make_interval(secs => $3))`,
);

export async function insertSession(
  tx: Tx,
  session: { tokenHash: Buffer; memberId: number; seconds: number },
): Promise<void> {
  await tx.run(INSERT, [session.tokenHash, session.memberId, session.seconds]);
}

const DELETE = statement("sessions.delete", "delete from control.sessions where token_hash = $1");

export async function deleteSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.run(DELETE, [tokenHash]);
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
): Promise<void> {
  await tx.run(DELETE_OTHERS, [session.memberId, session.tokenHash]);
}

const DELETE_ENDED = statement(
  "sessions.delete_ended",
  "delete from control.sessions where expires_at <= clock_timestamp()",
);

export async function deleteEndedSessions(tx: Tx): Promise<void> {
  await tx.run(DELETE_ENDED);
}
