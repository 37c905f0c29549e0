import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Tx } from "../../postgres/statement.ts";
import { mayActAs } from "../../primitives/role.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import {
  type ChallengePurpose,
  type ChallengeSource,
  countAttempt,
  deleteChallenge,
  deleteChallengesOf,
  findChallenge,
  insertChallenge,
} from "../../store/control/challenges.ts";
import { findMemberById, holdPassword, type Member } from "../../store/control/members.ts";
import {
  deletePasskeysOf,
  type Factors,
  getFactors,
  listPasskeys,
  type Passkey,
} from "../../store/control/passkeys.ts";
import { deleteRecoveryCodesOf } from "../../store/control/recovery-codes.ts";
import { findRecentSession, type OpenedWith } from "../../store/control/sessions.ts";

/**
 * Changes to a second factor require a session opened within this time, so that an unattended browser is not enough. Logging in
 * again proves the current factors, with the limits and auditing of every login.
 */
const RECENT_SECONDS = 10 * 60;

const CHALLENGE_SECONDS = 5 * 60;
/** Maximum number of attempts for one challenge. The table has the same limit. */
const ATTEMPTS_MAX = 5;
/**
 * Maximum numbers of open challenges for one member. Further challenges end the oldest. Somebody who knows the password can end the
 * logins of unknown devices, but never those of a known device.
 */
const CHALLENGES_MAX = { perSource: 5, unknown: 20 };
const CHALLENGE_BYTES = 32;

/** A secret token for the caller, and the random text that the passkey must sign. */
export type NewChallenge = { readonly token: string; readonly challenge: string };

/** A login whose password or link was accepted, but which needs a passkey before it opens a session. */
export type PendingLogIn = NewChallenge & {
  readonly kind: "pending";
  readonly member: Member;
  /** Empty if the member has to register the first passkey. */
  readonly passkeys: readonly Passkey[];
};

/** Whether a password or a link alone is not enough to open a session for this member. Decided only here. */
export function needsSecondFactor({ hasPasskey, role, requiredFrom }: Factors): boolean {
  return hasPasskey || isSecondFactorRequired({ role, requiredFrom });
}

/** Whether the workspace requires a second factor for this role. */
export function isSecondFactorRequired({
  role,
  requiredFrom,
}: Pick<Factors, "role" | "requiredFrom">): boolean {
  return requiredFrom !== null && mayActAs(role, requiredFrom);
}

/** Creates a challenge if the member must use a second factor. Otherwise returns null. */
export async function askSecondFactor(
  tx: Tx,
  memberId: number,
  source: ChallengeSource,
): Promise<PendingLogIn | null> {
  const factors = await getFactors(tx, memberId);
  if (!needsSecondFactor(factors)) return null;
  const member = await findMemberById(tx, memberId);
  if (member === null) return null;
  const passkeys = await listPasskeys(tx, memberId);
  const purpose = passkeys.length === 0 ? "set_up" : "log_in";
  return { kind: "pending", member, passkeys, ...(await makeChallenge(tx, member, purpose, source)) };
}

/** Creates a challenge. It ends when the member's password changes. */
export async function makeChallenge(
  tx: Tx,
  member: Pick<Member, "id" | "passwordHash">,
  purpose: ChallengePurpose,
  source: ChallengeSource,
): Promise<NewChallenge> {
  const token = makeSecret("pur_factor_");
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  await insertChallenge(
    tx,
    {
      tokenHash: hashSecret(token),
      memberId: member.id,
      purpose,
      challenge,
      passwordDigest: digestOf(member),
      seconds: CHALLENGE_SECONDS,
      source,
    },
    CHALLENGES_MAX,
  );
  return { token, challenge };
}

/** An attempt to answer a challenge. */
export type Attempted = {
  readonly tokenHash: Buffer;
  readonly challenge: string;
  readonly member: Member & { readonly passwordHash: string };
};

/**
 * Finds a challenge, counts an attempt and holds the member's password. Null if the challenge has ended. Locks the member before the
 * challenge, like a login that creates one.
 */
export async function attemptChallenge(
  tx: Tx,
  { token, purpose }: { token: string; purpose: ChallengePurpose },
): Promise<Attempted | null> {
  const sought = { tokenHash: hashSecret(token), purpose, attemptsMax: ATTEMPTS_MAX };
  const found = await findChallenge(tx, sought);
  if (found === null) return null;
  const member = await findMemberById(tx, found.memberId);
  if (member === null || member.passwordHash === null) return null;
  if (!timingSafeEqual(digestOf(member), found.passwordDigest)) return null;
  const { id, passwordHash } = member;
  if (!(await holdPassword(tx, { id, passwordHash }))) return null;
  if (!(await countAttempt(tx, sought))) return null;
  return { tokenHash: sought.tokenHash, challenge: found.challenge, member: { ...member, passwordHash } };
}

/**
 * Ends a challenge whose answer was verified in an earlier transaction. False if the challenge has ended or the password has changed since
 * then.
 */
export async function finishChallenge(tx: Tx, { tokenHash, member }: Attempted): Promise<boolean> {
  return (await holdPassword(tx, member)) && deleteChallenge(tx, tokenHash);
}

/** Finds the member of an open challenge, so that wrong recovery codes can be counted for the member. Does not count an attempt. */
export async function findChallengedMember(tx: Tx, token: string): Promise<Member | null> {
  const tokenHash = hashSecret(token);
  const found = await findChallenge(tx, { tokenHash, purpose: "log_in", attemptsMax: ATTEMPTS_MAX });
  return found && findMemberById(tx, found.memberId);
}

/**
 * Finds what a session was opened with, if the session may change a second factor. Null if the session is not recent. Also null if the
 * member has a passkey, but the session was opened with neither a passkey nor a recovery code, for example by single sign-on.
 */
export async function findProof(tx: Tx, sessionHash: Buffer): Promise<OpenedWith | null> {
  const recent = await findRecentSession(tx, { tokenHash: sessionHash, seconds: RECENT_SECONDS });
  if (recent === null) return null;
  const { openedWith, hasPasskey } = recent;
  return !hasPasskey || openedWith === "passkey" || openedWith === "recovery_code" ? openedWith : null;
}

/** Deletes the member's passkeys, recovery codes and challenges. Returns the number of passkeys. */
export async function removeSecondFactor(tx: Tx, memberId: number): Promise<number> {
  await deleteChallengesOf(tx, memberId);
  await deleteRecoveryCodesOf(tx, memberId);
  return deletePasskeysOf(tx, memberId);
}

function digestOf({ passwordHash }: Pick<Member, "passwordHash">): Buffer {
  return hashSecret(passwordHash ?? "");
}
