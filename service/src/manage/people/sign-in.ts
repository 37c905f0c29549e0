import type { Principal } from "../../edge/principal.ts";
import { SESSION_SECONDS } from "../../edge/session-cookie.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findMemberByEmail, holdPassword, type Member } from "../../store/control/members.ts";
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionsBeyond,
  deleteSessionsOf,
  insertSession,
} from "../../store/control/sessions.ts";
import { hashPassword, isPassword } from "./password.ts";

/** What a stranger's guess is compared with, so that it takes as long as a member's. Made once, of nothing anyone knows. */
const NOBODY = await hashPassword(makeSecret("nobody_"));

/** Of one member: somebody who logs in again and again must not fill the table. */
const SESSIONS_MAX = 50;

/** Where a person came from. `userAgent` as their browser calls itself, cut to a length. */
export type Visit = { readonly requestId: string; readonly address: string; readonly userAgent: string };

export type MemberWithPassword = Member & { readonly passwordHash: string };

/** Null: email and password do not match. Which of the two is wrong is not said, nor shown by the time it takes. */
export async function checkPassword(
  control: Pool,
  { email, password }: { email: string; password: string },
): Promise<MemberWithPassword | null> {
  const member = await single(control, (tx) => findMemberByEmail(tx, email.toLowerCase()));
  const matches = await isPassword(password, member?.passwordHash ?? NOBODY);
  const passwordHash = member?.passwordHash ?? null;
  return matches && member !== null && passwordHash !== null ? { ...member, passwordHash } : null;
}

/**
 * A new session; the token goes into the cookie and is kept nowhere. Null: the password that was checked is no longer the
 * member's, and whoever changed it has ended the sessions that there were.
 */
export function openSession(control: Pool, member: MemberWithPassword, visit: Visit): Promise<string | null> {
  return transaction(control, async (tx) =>
    (await holdPassword(tx, member)) ? openSessionIn(tx, member, visit) : null,
  );
}

export async function openSessionIn(
  tx: Tx,
  { id, workspaceId, email }: Pick<Member, "id" | "workspaceId" | "email">,
  { requestId, address, userAgent }: Visit,
): Promise<string> {
  const token = makeSecret("pur_session_");
  await deleteEndedSessions(tx);
  await deleteSessionsBeyond(tx, { memberId: id, kept: SESSIONS_MAX - 1 });
  const session = { tokenHash: hashSecret(token), memberId: id, seconds: SESSION_SECONDS };
  await insertSession(tx, { ...session, address, userAgent });
  await insertControlAudit(tx, {
    workspaceId,
    actor: { kind: "member", id: String(id), requestId },
    action: "member.signed_in",
    subject: email,
    before: null,
    after: { address, userAgent },
  });
  return token;
}

/** Here, or wherever this member is signed in. A token has no session to end. */
export async function signOut(
  control: Pool,
  { id, workspaceId, email, sessionHash }: Principal,
  { requestId, address }: Visit,
  everywhere: boolean,
): Promise<void> {
  if (sessionHash === null || email === null) return;
  await transaction(control, async (tx) => {
    if (everywhere) await deleteSessionsOf(tx, id);
    else await deleteSession(tx, sessionHash);
    await insertControlAudit(tx, {
      workspaceId,
      actor: { kind: "member", id: String(id), requestId },
      action: "member.signed_out",
      subject: email,
      before: null,
      after: { address, everywhere },
    });
  });
}
