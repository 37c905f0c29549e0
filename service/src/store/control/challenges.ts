import { bytes, describeRow, findRow, integer, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

/** What the member does with a passkey: log in, set up the first passkey during a login, or register one in a session. */
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

const DELETE_BEYOND = statement(
  "challenges.delete_beyond",
  `
  delete from control.challenges
  where member_id = $1
    and token_hash in (
      select token_hash
      from control.challenges
      where member_id = $1
      order by created_at desc
      offset $2
    )`,
);

const INSERT = statement(
  "challenges.insert",
  `
  insert into control.challenges (token_hash, member_id, purpose, challenge, password_digest, expires_at)
  values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6))`,
);

export type NewChallenge = Challenge & {
  readonly tokenHash: Buffer;
  readonly purpose: ChallengePurpose;
  readonly seconds: number;
};

/** Stores a challenge. Deletes expired challenges, and the member's oldest ones beyond `countMax`. */
export async function insertChallenge(tx: Tx, challenge: NewChallenge, countMax: number): Promise<void> {
  await tx.run(DELETE_EXPIRED);
  await tx.run(DELETE_BEYOND, [challenge.memberId, countMax - 1]);
  await tx.run(INSERT, [
    challenge.tokenHash,
    challenge.memberId,
    challenge.purpose,
    challenge.challenge,
    challenge.passwordDigest,
    challenge.seconds,
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

export async function deleteChallenge(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.run(DELETE, [tokenHash]);
}

const DELETE_OF = statement("challenges.delete_of", "delete from control.challenges where member_id = $1");

export async function deleteChallengesOf(tx: Tx, memberId: number): Promise<void> {
  await tx.run(DELETE_OF, [memberId]);
}
