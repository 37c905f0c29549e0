import { bytes, describeRow, findRow, integer, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

/** The purpose of a challenge: log in, set up the first passkey during a login, or register one in a session. */
export type ChallengePurpose = "log_in" | "set_up" | "register";

const CHALLENGE = describeRow({
  memberId: integer("c.member_id"),
  challenge: text("c.challenge"),
  passwordDigest: bytes("c.password_digest"),
});

export type Challenge = RowOf<typeof CHALLENGE>;

const DELETE_EXPIRED = statement(
  "challenges.delete_expired",
  "delete from control.challenges where expires_at <= clock_timestamp()",
);

const DELETE_BEYOND_SOURCE = statement(
  "challenges.delete_beyond_source",
  `
  delete from control.challenges
  where member_id = $1
    and token_hash in (
      select token_hash
      from control.challenges
      where member_id = $1
        and source = $2
      order by created_at desc
      offset $3
    )`,
);

const DELETE_BEYOND_UNKNOWN = statement(
  "challenges.delete_beyond_unknown",
  `
  delete from control.challenges
  where member_id = $1
    and token_hash in (
      select token_hash
      from control.challenges
      where member_id = $1
        and not is_known
      order by created_at desc
      offset $2
    )`,
);

const INSERT = statement(
  "challenges.insert",
  `
  insert into control.challenges (
    token_hash, member_id, purpose, challenge, password_digest, expires_at, source, is_known
  )
  values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6), $7, $8)`,
);

/** The known device or session of the member, or the network, that a challenge is for. */
export type ChallengeSource = { readonly name: string; readonly isKnown: boolean };

export type NewChallenge = Challenge & {
  readonly tokenHash: Buffer;
  readonly purpose: ChallengePurpose;
  readonly seconds: number;
  readonly source: ChallengeSource;
};

/**
 * Stores a challenge. Deletes expired challenges, and the member's oldest ones beyond the maximum for this source. A challenge for an
 * unknown source also deletes the oldest ones beyond the maximum for all unknown sources, but never one for a known source.
 */
export async function insertChallenge(
  tx: Tx,
  challenge: NewChallenge,
  max: { readonly perSource: number; readonly unknown: number },
): Promise<void> {
  const { memberId, source } = challenge;
  await tx.run(DELETE_EXPIRED);
  await tx.run(DELETE_BEYOND_SOURCE, [memberId, source.name, max.perSource - 1]);
  if (!source.isKnown) await tx.run(DELETE_BEYOND_UNKNOWN, [memberId, max.unknown - 1]);
  await tx.run(INSERT, [
    challenge.tokenHash,
    memberId,
    challenge.purpose,
    challenge.challenge,
    challenge.passwordDigest,
    challenge.seconds,
    source.name,
    source.isKnown,
  ]);
}

const IS_OPEN = `
    c.token_hash = $1
    and c.purpose = $2
    and c.attempts < $3
    and c.expires_at > clock_timestamp()`;

const FIND = statement(
  "challenges.find",
  `select ${CHALLENGE.list} from control.challenges as c where ${IS_OPEN}`,
);

type Sought = {
  readonly tokenHash: Buffer;
  readonly purpose: ChallengePurpose;
  readonly attemptsMax: number;
};

/** Null if the challenge is unknown or expired, or has no attempts left. */
export function findChallenge(tx: Tx, sought: Sought): Promise<Challenge | null> {
  return findRow(tx, FIND, [sought.tokenHash, sought.purpose, sought.attemptsMax], CHALLENGE);
}

const COUNT_ATTEMPT = statement(
  "challenges.count_attempt",
  `update control.challenges as c set attempts = c.attempts + 1 where ${IS_OPEN}`,
);

/** Locks the challenge and counts an attempt. False if the challenge ended since it was found. */
export async function countAttempt(tx: Tx, sought: Sought): Promise<boolean> {
  const { rowCount } = await tx.run(COUNT_ATTEMPT, [sought.tokenHash, sought.purpose, sought.attemptsMax]);
  return rowCount === 1;
}

const DELETE = statement("challenges.delete", "delete from control.challenges where token_hash = $1");

/** False if the challenge no longer exists. */
export async function deleteChallenge(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.run(DELETE, [tokenHash]);
  return rowCount === 1;
}

const DELETE_OF = statement("challenges.delete_of", "delete from control.challenges where member_id = $1");

export async function deleteChallengesOf(tx: Tx, memberId: number): Promise<void> {
  await tx.run(DELETE_OF, [memberId]);
}
