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

/** What must match when the provider redirects the browser back. */
export type SignOnAttempt = RowOf<typeof ATTEMPT>;

const DELETE_ENDED = statement(
  "sign_on_attempts.delete_ended",
  "delete from control.sign_on_attempts where expires_at <= clock_timestamp()",
);

const DELETE_BEYOND = statement(
  "sign_on_attempts.delete_beyond",
  `
  delete from control.sign_on_attempts
  where token_hash in (
    select a.token_hash
    from control.sign_on_attempts as a
    order by a.expires_at desc
    offset $1
  )`,
);

/** Deletes expired attempts, and the oldest of the others beyond `kept`, so that anonymous callers cannot fill the table. */
export async function deleteOldAttempts(tx: Tx, kept: number): Promise<void> {
  await tx.run(DELETE_ENDED);
  await tx.run(DELETE_BEYOND, [kept]);
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
