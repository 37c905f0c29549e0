import type { Principal } from "../../edge/principal.ts";
import { DEVICE_SECONDS, SESSION_SECONDS, SIGNED_ON_SESSION_SECONDS } from "../../edge/session-cookie.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { networkOf } from "../../primitives/network.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  deleteDevicesBeyond,
  deleteDevicesOf,
  isDevice,
  isDeviceOf,
  upsertDevice,
} from "../../store/control/devices.ts";
import { endLinksOf } from "../../store/control/links.ts";
import {
  findMemberByEmail,
  holdPassword,
  lockMembership,
  type Member,
  replacePassword,
} from "../../store/control/members.ts";
import {
  deleteEndedSessions,
  deleteOtherSessionsOf,
  deleteSession,
  deleteSessionsBeyond,
  deleteSessionsOf,
  insertSession,
  type OpenedWith,
} from "../../store/control/sessions.ts";
import { isPassword, NO_PASSWORD } from "./password.ts";
import { askSecondFactor, type PendingLogIn } from "./second-factor.ts";

/** Maximum number of sessions per member, so that repeated logins cannot fill the table. */
const SESSIONS_MAX = 50;

/** Origin of a request. `userAgent` is truncated. */
export type Visit = { readonly requestId: string; readonly address: string; readonly userAgent: string };

export type MemberWithPassword = Member & { readonly passwordHash: string };

/** Finds the member by email and password. Neither the result nor the duration reveals whether the email or the password is wrong. */
export async function checkPassword(
  control: Pool,
  { email, password }: { email: string; password: string },
): Promise<MemberWithPassword | null> {
  const member = await single(control, (tx) => findMemberByEmail(tx, email.toLowerCase()));
  const matches = await isPassword(password, member?.passwordHash ?? NO_PASSWORD);
  const passwordHash = member?.passwordHash ?? null;
  return matches && member !== null && passwordHash !== null ? { ...member, passwordHash } : null;
}

/** A new session, or a login that waits for a second factor. */
export type OpenedLogIn = { readonly kind: "session"; readonly sessionToken: string } | PendingLogIn;

/** Opens a session, or asks for a second factor. Null if the password has changed since it was checked. `known` is the known device. */
export function openSession(
  control: Pool,
  member: MemberWithPassword,
  visit: Visit,
  known: string | null,
): Promise<OpenedLogIn | null> {
  return transaction(control, async (tx) =>
    (await holdPassword(tx, member)) ? openSessionIn(tx, member, visit, known) : null,
  );
}

/** Opens a session after a password or link was accepted, or asks for a second factor. All local credentials end up here. */
export async function openSessionIn(
  tx: Tx,
  member: Pick<Member, "id" | "workspaceId" | "email">,
  visit: Visit,
  known: string | null = null,
): Promise<OpenedLogIn> {
  const source =
    known === null
      ? { name: `network ${networkOf(visit.address)}`, isKnown: false }
      : { name: `device ${known}`, isKnown: true };
  const pending = await askSecondFactor(tx, member.id, source);
  return pending ?? { kind: "session", sessionToken: await insertSessionIn(tx, member, visit, "password") };
}

/**
 * Opens a session and returns its token, of which only a hash is stored. The caller has checked every required factor. A login by single
 * sign-on does not require a factor from Purser, because the provider, `issuer`, asks for its own.
 */
export async function insertSessionIn(
  tx: Tx,
  { id, workspaceId, email }: Pick<Member, "id" | "workspaceId" | "email">,
  { requestId, address, userAgent }: Visit,
  openedWith: OpenedWith,
  issuer: string | null = null,
): Promise<string> {
  const token = makeSecret("pur_session_");
  await deleteEndedSessions(tx);
  await deleteSessionsBeyond(tx, { memberId: id, kept: SESSIONS_MAX - 1 });
  const seconds = issuer === null ? SESSION_SECONDS : SIGNED_ON_SESSION_SECONDS;
  const session = { tokenHash: hashSecret(token), memberId: id, seconds, openedWith, issuer };
  await insertSession(tx, { ...session, address, userAgent });
  await insertControlAudit(tx, {
    workspaceId,
    actor: { kind: "member", id: String(id), requestId },
    action: "member.signed_in",
    subject: email,
    before: null,
    after: { openedWith, address, userAgent, ...(issuer === null ? {} : { issuer }) },
  });
  return token;
}

/**
 * Ends this session, or all of the member's sessions. Does nothing for a token, which has no session. Returns whether single sign-on
 * opened the session.
 */
export async function signOut(
  control: Pool,
  { id, workspaceId, email, sessionHash }: Principal,
  { requestId, address }: Visit,
  everywhere: boolean,
): Promise<boolean> {
  if (sessionHash === null || email === null) return false;
  return transaction(control, async (tx) => {
    const isSignedOn = await deleteSession(tx, sessionHash);
    if (everywhere) await deleteSessionsOf(tx, id);
    await insertControlAudit(tx, {
      workspaceId,
      actor: { kind: "member", id: String(id), requestId },
      action: "member.signed_out",
      subject: email,
      before: null,
      after: { address, everywhere },
    });
    return isSignedOn;
  });
}

const DEVICES_MAX = 20;

/** Returns the device's hash if this browser has logged in as this member before, otherwise null. */
export async function findKnownDevice(
  control: Pool,
  { token, email }: { token: string | null; email: string },
): Promise<string | null> {
  if (token === null) return null;
  const tokenHash = hashSecret(token);
  const isKnown = await single(control, (tx) => isDeviceOf(tx, { tokenHash, email }));
  return isKnown ? tokenHash.toString("hex") : null;
}

/** Remembers the browser after a login. Reuses the browser's device token, even from another member, or creates a new token. */
export function rememberDevice(
  control: Pool,
  { memberId, shown }: { memberId: number; shown: string | null },
): Promise<string> {
  return transaction(control, async (tx) => {
    const isOurs = shown !== null && (await isDevice(tx, hashSecret(shown)));
    const token = isOurs ? shown : makeSecret("pur_device_");
    await upsertDevice(tx, { tokenHash: hashSecret(token), memberId, seconds: DEVICE_SECONDS });
    await deleteDevicesBeyond(tx, memberId, DEVICES_MAX);
    return token;
  });
}

/**
 * Changes the password and ends all other sessions. Call this function after checking the old password. Returns false if the
 * password has changed in the meantime.
 */
export async function changePassword(
  control: Pool,
  member: MemberWithPassword,
  input: {
    readonly passwordHash: string;
    readonly sessionHash: Buffer;
    /** The current device, which stays known. */
    readonly device: string | null;
    readonly requestId: string;
  },
): Promise<boolean> {
  const { id, workspaceId, email } = member;
  return transaction(control, async (tx) => {
    // Acquires the lock before ending the sessions. A concurrent access change in one of these sessions completes first or is rejected.
    await lockMembership(tx);
    const after = input.passwordHash;
    if (!(await replacePassword(tx, { id, before: member.passwordHash, after }))) return false;
    await deleteOtherSessionsOf(tx, { memberId: id, tokenHash: input.sessionHash });
    const except = input.device === null ? null : hashSecret(input.device);
    await deleteDevicesOf(tx, { memberId: id, except });
    await endLinksOf(tx, id);
    await insertControlAudit(tx, {
      workspaceId,
      actor: { kind: "member", id: String(id), requestId: input.requestId },
      action: "member.password_changed",
      subject: email,
      before: null,
      after: null,
    });
    return true;
  });
}
