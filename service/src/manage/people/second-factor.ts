import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Tx } from "../../postgres/statement.ts";
import { mayActAs } from "../../primitives/role.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import {
  type ChallengePurpose,
  countAttempt,
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

const CHALLENGE_SECONDS = 5 * 60;
/** Maximum number of attempts for one challenge. The table has the same limit. */
const ATTEMPTS_MAX = 5;
/** Maximum number of open challenges for one member. Further challenges end the oldest. */
const CHALLENGES_MAX = 20;
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

/** Whether a password or a link alone opens no session for this member. The only place that decides it. */
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

/** Creates a challenge if the member needs a second factor. Otherwise returns null. */
export async function askSecondFactor(tx: Tx, memberId: number): Promise<PendingLogIn | null> {
  const factors = await getFactors(tx, memberId);
  if (!needsSecondFactor(factors)) return null;
  const member = await findMemberById(tx, memberId);
  if (member === null) return null;
  const passkeys = await listPasskeys(tx, memberId);
  const purpose = passkeys.length === 0 ? "set_up" : "log_in";
  return { kind: "pending", member, passkeys, ...(await makeChallenge(tx, member, purpose)) };
}

/** Creates a challenge. It ends when the member's password changes. */
export async function makeChallenge(
  tx: Tx,
  member: Pick<Member, "id" | "passwordHash">,
  purpose: ChallengePurpose,
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

/** Finds the member of an open challenge, so that wrong recovery codes can be counted for the member. Counts no attempt. */
export async function findChallengedMember(tx: Tx, token: string): Promise<Member | null> {
  const tokenHash = hashSecret(token);
  const found = await findChallenge(tx, { tokenHash, purpose: "log_in", attemptsMax: ATTEMPTS_MAX });
  return found && findMemberById(tx, found.memberId);
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
