import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { deleteChallengesOf } from "../../store/control/challenges.ts";
import { findMemberById, lockMembership, type Member } from "../../store/control/members.ts";
import {
  deletePasskey,
  getFactors,
  insertPasskey,
  listPasskeys,
  type Passkey,
  renamePasskey,
} from "../../store/control/passkeys.ts";
import { deleteRecoveryCodesOf } from "../../store/control/recovery-codes.ts";
import { addPasskeyToSession, deleteOtherSessionsOf, isSessionOpen } from "../../store/control/sessions.ts";
import { PASSKEYS_MAX } from "./passkey-schema.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import {
  attemptChallenge,
  findProof,
  finishChallenge,
  isSecondFactorRequired,
  makeChallenge,
  type NewChallenge,
} from "./second-factor.ts";
import type { Visit } from "./sign-in.ts";
import { type NewPasskey, verifyAttestation } from "./verify-passkey.ts";

/** A member with their current session. */
export type SelfInSession = { readonly id: number; readonly sessionHash: Buffer; readonly visit: Visit };

type Refused = { kind: "session_ended" | "log_in_again" };

export type OptionsOutcome =
  | Refused
  | { kind: "too_many" | "no_password" }
  | { kind: "made"; member: Member; passkeys: readonly Passkey[]; made: NewChallenge };

/** Starts the registration of a passkey. */
export function startRegistration(control: Pool, self: SelfInSession): Promise<OptionsOutcome> {
  return transaction<OptionsOutcome>(control, async (tx) => {
    const opened = await openOwn(tx, self);
    if (opened.kind !== "open") return opened;
    const { member, passkeys } = opened;
    // A passkey is a second factor for a password. Without a password, it would never be used.
    if (member.passwordHash === null) return { kind: "no_password" };
    if (passkeys.length >= PASSKEYS_MAX) return { kind: "too_many" };
    const source = { name: `session ${self.sessionHash.toString("hex")}`, isKnown: true };
    return { kind: "made", member, passkeys, made: await makeChallenge(tx, member, "register", source) };
  });
}

export type AddOutcome =
  | { kind: "session_ended" | "expired" | "invalid" | "already_registered" | "too_many" }
  /** The codes are null if the member already has some. */
  | { kind: "added"; passkey: Passkey; recoveryCodes: readonly string[] | null };

/** Registers a passkey and ends the member's other sessions and pending logins. The first passkey comes with recovery codes. */
export async function addPasskey(
  control: Pool,
  self: SelfInSession,
  { token, name, passkey, party }: NewPasskey,
): Promise<AddOutcome> {
  const attempted = await transaction(control, (tx) => attemptChallenge(tx, { token, purpose: "register" }));
  if (attempted === null || attempted.member.id !== self.id) return { kind: "expired" };
  // Before the transaction that locks membership, so that a slow verification does not delay others.
  const key = await verifyAttestation(passkey, { challenge: attempted.challenge, party });
  if (key === null) return { kind: "invalid" };
  return transaction<AddOutcome>(
    control,
    async (tx) => {
      const { member } = attempted;
      await lockMembership(tx);
      if (!(await isSessionOpen(tx, self.sessionHash))) return { kind: "session_ended" };
      if (!(await finishChallenge(tx, attempted))) return { kind: "expired" };
      const before = await listPasskeys(tx, member.id);
      if (before.length >= PASSKEYS_MAX) return { kind: "too_many" };
      const passkey = await insertPasskey(tx, member.id, { ...key, name });
      if (passkey === null) return { kind: "already_registered" };
      await deleteChallengesOf(tx, member.id);
      await addPasskeyToSession(tx, self.sessionHash);
      const recoveryCodes = before.length === 0 ? await replaceRecoveryCodes(tx, member.id) : null;
      await endOtherSessions(tx, self);
      await audit(tx, { member, self, action: "member.passkey_added", before: null, after: passkey.name });
      return { kind: "added", passkey, recoveryCodes };
    },
    ({ kind }) => kind === "added",
  );
}

export type RenameOutcome = { kind: "renamed"; passkey: Passkey } | { kind: "not_found" };

export function renameOwnPasskey(
  control: Pool,
  self: SelfInSession,
  { id, name }: { id: number; name: string },
): Promise<RenameOutcome> {
  return transaction<RenameOutcome>(control, async (tx) => {
    const member = await findMemberById(tx, self.id);
    const before = (await listPasskeys(tx, self.id)).find((passkey) => passkey.id === id);
    const passkey = await renamePasskey(tx, { memberId: self.id, id, name });
    if (member === null || before === undefined || passkey === null) return { kind: "not_found" };
    if (before.name !== name) {
      const action = "member.passkey_renamed";
      await audit(tx, { member, self, action, before: before.name, after: name });
    }
    return { kind: "renamed", passkey };
  });
}

export type DeleteOutcome = Refused | { kind: "deleted" | "not_found" | "last_passkey" };

/**
 * Deletes a passkey and ends the member's other sessions. Deleting the last passkey also deletes the recovery codes, which are then
 * useless.
 */
export function deleteOwnPasskey(control: Pool, self: SelfInSession, id: number): Promise<DeleteOutcome> {
  return transaction<DeleteOutcome>(control, async (tx) => {
    const opened = await openOwn(tx, self);
    if (opened.kind !== "open") return opened;
    const { member, passkeys } = opened;
    const passkey = passkeys.find((one) => one.id === id);
    if (passkey === undefined) return { kind: "not_found" };
    const isLast = passkeys.length === 1;
    if (isLast && isSecondFactorRequired(await getFactors(tx, self.id))) return { kind: "last_passkey" };
    // A login locks its challenge first, so this must too.
    await deleteChallengesOf(tx, self.id);
    if (isLast) await deleteRecoveryCodesOf(tx, self.id);
    await deletePasskey(tx, { memberId: self.id, id });
    await endOtherSessions(tx, self);
    await audit(tx, { member, self, action: "member.passkey_deleted", before: passkey.name, after: null });
    return { kind: "deleted" };
  });
}

export type CodesOutcome =
  | Refused
  | { kind: "no_passkey" }
  | { kind: "made"; recoveryCodes: readonly string[] };

/** Replaces the member's recovery codes and ends the member's other sessions. */
export function renewRecoveryCodes(control: Pool, self: SelfInSession): Promise<CodesOutcome> {
  return transaction<CodesOutcome>(control, async (tx) => {
    const opened = await openOwn(tx, self);
    if (opened.kind !== "open") return opened;
    if (opened.passkeys.length === 0) return { kind: "no_passkey" };
    const recoveryCodes = await replaceRecoveryCodes(tx, self.id);
    await endOtherSessions(tx, self);
    const action = "member.recovery_codes_created";
    await audit(tx, { member: opened.member, self, action, before: null, after: null });
    return { kind: "made", recoveryCodes };
  });
}

type Opened = { kind: "open"; member: Member; passkeys: readonly Passkey[] };

/** Locks membership, so that a deletion and a new requirement run one after the other, and checks the session. */
async function openOwn(tx: Tx, { id, sessionHash }: SelfInSession): Promise<Opened | Refused> {
  await lockMembership(tx);
  const member = await findMemberById(tx, id);
  if (member === null || !(await isSessionOpen(tx, sessionHash))) return { kind: "session_ended" };
  if ((await findProof(tx, sessionHash)) === null) return { kind: "log_in_again" };
  return { kind: "open", member, passkeys: await listPasskeys(tx, id) };
}

function endOtherSessions(tx: Tx, { id, sessionHash }: SelfInSession): Promise<number> {
  return deleteOtherSessionsOf(tx, { memberId: id, tokenHash: sessionHash });
}

async function audit(
  tx: Tx,
  {
    member,
    self,
    action,
    before,
    after,
  }: { member: Member; self: SelfInSession; action: string; before: string | null; after: string | null },
): Promise<void> {
  const { requestId, address } = self.visit;
  await insertControlAudit(tx, {
    workspaceId: member.workspaceId,
    actor: { kind: "member", id: String(self.id), requestId },
    action,
    subject: member.email,
    before: before === null ? null : { passkey: before },
    after: after === null ? { address } : { passkey: after, address },
  });
}
