import { bytes, describeRow, findRow, integer, orNull, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

const ATTEMPT = describeRow({
  state: text("a.state"),
  nonce: text("a.nonce"),
  verifier: text("a.verifier"),
  returnPath: text("a.return_path"),
  /** The member who connects an account. Null for a sign-in. */
  memberId: orNull(integer("a.member_id")),
  /** The session in which the member connects an account. */
  sessionHash: orNull(bytes("a.session_hash")),
});

/** The values that must match when the provider redirects the browser back. */
export type SignOnAttempt = RowOf<typeof ATTEMPT>;

const DELETE_ENDED = statement(
  "sign_on_attempts.delete_ended",
  `
  delete from control.sign_on_attempts
  where token_hash in (
    select a.token_hash
    from control.sign_on_attempts as a
    where a.expires_at <= clock_timestamp()
    order by a.expires_at
    limit 100
    for update skip locked
  )`,
);

/** Deletes up to 100 expired attempts. Skips locked rows, so that concurrent sign-ins do not wait for each other. */
export async function deleteEndedAttempts(tx: Tx): Promise<void> {
  await tx.run(DELETE_ENDED);
}

const DELETE_OLDEST = statement(
  "sign_on_attempts.delete_oldest",
  `
  delete from control.sign_on_attempts
  -- An array is read once. A plan could run "in (select …)" again for each row, and delete more at each run.
  where token_hash = any (array(
    select a.token_hash
    from control.sign_on_attempts as a
    where a.member_id is null
    order by a.expires_at
    limit greatest(
      (select count(*) from control.sign_on_attempts as b where b.member_id is null) - $1::integer,
      0
    )
    for update skip locked
  ))`,
);

/**
 * Deletes the oldest attempts of people who are not logged in, until `kept` remain, or a few more. Skips locked rows, so that concurrent
 * sign-ins do not wait for each other.
 */
export async function deleteOldestAttempts(tx: Tx, kept: number): Promise<void> {
  await tx.run(DELETE_OLDEST, [kept]);
}

const DELETE_OF_SESSION = statement(
  "sign_on_attempts.delete_of_session",
  "delete from control.sign_on_attempts where session_hash = $1",
);

export async function deleteAttemptsOfSession(tx: Tx, sessionHash: Buffer): Promise<void> {
  await tx.run(DELETE_OF_SESSION, [sessionHash]);
}

const INSERT = statement(
  "sign_on_attempts.insert",
  `
  insert into control.sign_on_attempts
    (token_hash, state, nonce, verifier, return_path, member_id, session_hash, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8))`,
);

export async function insertAttempt(
  tx: Tx,
  { tokenHash, seconds, ...attempt }: SignOnAttempt & { tokenHash: Buffer; seconds: number },
): Promise<void> {
  const { state, nonce, verifier, returnPath, memberId, sessionHash } = attempt;
  await tx.run(INSERT, [tokenHash, state, nonce, verifier, returnPath, memberId, sessionHash, seconds]);
}

const USE = statement(
  "sign_on_attempts.use",
  `
  delete from control.sign_on_attempts as a
  where a.token_hash = $1
    and a.expires_at > clock_timestamp()
  returning ${ATTEMPT.list}`,
);

/** Deletes and returns an attempt. Null if it was used before, has expired or never existed. */
export function useAttempt(tx: Tx, tokenHash: Buffer): Promise<SignOnAttempt | null> {
  return findRow(tx, USE, [tokenHash], ATTEMPT);
}
