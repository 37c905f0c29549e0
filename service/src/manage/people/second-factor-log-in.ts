import type { Static } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { deleteChallenge, deleteChallengesOf } from "../../store/control/challenges.ts";
import { lockMembership, type Member } from "../../store/control/members.ts";
import { insertPasskey, listPasskeys, lockPasskey, recordPasskeyUse } from "../../store/control/passkeys.ts";
import { useRecoveryCode } from "../../store/control/recovery-codes.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import type { Assertion } from "./passkey-schema.ts";
import { hashRecoveryCode, replaceRecoveryCodes } from "./recovery-codes.ts";
import { type RelyingParty, userHandleOf } from "./relying-party.ts";
import { type Attempted, attemptChallenge, finishChallenge } from "./second-factor.ts";
import { insertSessionIn, type Visit } from "./sign-in.ts";
import { type NewPasskey, verifyAssertion, verifyAttestation } from "./verify-passkey.ts";

/** Throws if the member may not use a password. The settings may have changed since the password was checked. */
type Admit = (member: Member) => void;

export type LogInOutcome =
  | { kind: "opened"; member: Member; sessionToken: string }
  /** The passkey or the code is wrong. The challenge stays open until it has no attempts left. */
  | { kind: "refused"; member: Member }
  /** The challenge is unknown, used or expired, has no attempts left, or the password has changed. */
  | { kind: "expired" };

type PasskeyAnswer = {
  readonly token: string;
  readonly passkey: Static<typeof Assertion>;
  readonly party: RelyingParty;
};

/** Finishes a login with a passkey. A refused attempt is committed, so that it counts. */
export function logInWithPasskey(
  control: Pool,
  answer: PasskeyAnswer,
  visit: Visit,
  admit: Admit,
): Promise<LogInOutcome> {
  return transaction<LogInOutcome>(control, async (tx) => {
    const attempted = await attemptChallenge(tx, { token: answer.token, purpose: "log_in" });
    if (attempted === null) return { kind: "expired" };
    const { member } = attempted;
    admit(member);
    if (!(await isSignedBy(tx, attempted, answer, visit))) return { kind: "refused", member };
    await deleteChallenge(tx, attempted.tokenHash);
    return { kind: "opened", member, sessionToken: await insertSessionIn(tx, member, visit, "passkey") };
  });
}

async function isSignedBy(
  tx: Tx,
  { member, challenge }: Attempted,
  { passkey, party }: PasskeyAnswer,
  visit: Visit,
): Promise<boolean> {
  const credentialId = Buffer.from(passkey.id, "base64url");
  const stored = await lockPasskey(tx, { memberId: member.id, credentialId });
  if (stored === null) return false;
  const expected = { challenge, party, userHandle: userHandleOf(member) };
  const signatureCount = await verifyAssertion(passkey, expected, stored);
  if (signatureCount === null) return false;
  // Authenticators that do not count always report 0.
  const isCounting = stored.signatureCount > 0 || signatureCount > 0;
  if (isCounting && signatureCount <= stored.signatureCount) {
    await auditCopiedPasskey(
      tx,
      member,
      { name: stored.name, stored: stored.signatureCount, signatureCount },
      visit,
    );
    return false;
  }
  await recordPasskeyUse(tx, { id: stored.id, signatureCount });
  return true;
}

/** The signature is valid, but its count did not increase, so somebody may have copied the key. */
function auditCopiedPasskey(
  tx: Tx,
  { workspaceId, email }: Member,
  { name, stored, signatureCount }: { name: string; stored: number; signatureCount: number },
  { requestId, address, userAgent }: Visit,
): Promise<unknown> {
  return insertControlAudit(tx, {
    workspaceId,
    actor: { kind: "system", id: null, requestId },
    action: "member.passkey_refused",
    subject: email,
    before: { passkey: name, signatureCount: stored },
    after: { passkey: name, signatureCount, address, userAgent },
  });
}

/** Finishes a login with a recovery code, which works once. */
export function logInWithRecoveryCode(
  control: Pool,
  { token, code }: { token: string; code: string },
  visit: Visit,
  admit: Admit,
): Promise<LogInOutcome> {
  return transaction<LogInOutcome>(control, async (tx) => {
    const attempted = await attemptChallenge(tx, { token, purpose: "log_in" });
    if (attempted === null) return { kind: "expired" };
    const { member } = attempted;
    admit(member);
    const isUsed = await useRecoveryCode(tx, { memberId: member.id, hash: hashRecoveryCode(code) });
    if (!isUsed) return { kind: "refused", member };
    await deleteChallenge(tx, attempted.tokenHash);
    const sessionToken = await insertSessionIn(tx, member, visit, "recovery_code");
    return { kind: "opened", member, sessionToken };
  });
}

export type SetUpFactorOutcome =
  | { kind: "opened"; member: Member; sessionToken: string; recoveryCodes: readonly string[] }
  | { kind: "refused"; member: Member }
  | { kind: "expired" };

/** Registers the first passkey of a member whose role requires one, and finishes the login. */
export async function logInWithFirstPasskey(
  control: Pool,
  { token, name, passkey, party }: NewPasskey,
  visit: Visit,
  admit: Admit,
): Promise<SetUpFactorOutcome> {
  const attempted = await transaction(control, (tx) => attemptChallenge(tx, { token, purpose: "set_up" }));
  if (attempted === null) return { kind: "expired" };
  const { member, challenge } = attempted;
  admit(member);
  // Before the transaction that locks membership, so that a slow verification does not delay others.
  const key = await verifyAttestation(passkey, { challenge, party });
  if (key === null) return { kind: "refused", member };
  return transaction<SetUpFactorOutcome>(
    control,
    async (tx) => {
      // Two setups by one member run one after the other. The first ends the second one's challenge.
      await lockMembership(tx);
      if (!(await finishChallenge(tx, attempted))) return { kind: "expired" };
      // Setup is only for the first passkey. A member who has a passkey must use it.
      if ((await listPasskeys(tx, member.id)).length > 0) return { kind: "expired" };
      const added = await insertPasskey(tx, member.id, { ...key, name });
      if (added === null) return { kind: "refused", member };
      await deleteChallengesOf(tx, member.id);
      await deleteSessionsOf(tx, member.id);
      const recoveryCodes = await replaceRecoveryCodes(tx, member.id);
      await insertControlAudit(tx, {
        workspaceId: member.workspaceId,
        actor: { kind: "member", id: String(member.id), requestId: visit.requestId },
        action: "member.passkey_added",
        subject: member.email,
        before: null,
        after: { passkey: added.name, address: visit.address },
      });
      const sessionToken = await insertSessionIn(tx, member, visit, "passkey");
      return { kind: "opened", member, sessionToken, recoveryCodes };
    },
    ({ kind }) => kind === "opened",
  );
}
