import type { Pool } from "../../postgres/pool.ts";
import { lossyTransaction, transaction } from "../../postgres/transaction.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import {
  deleteAttemptsOfSession,
  deleteEndedAttempts,
  deleteOldestAttempts,
  insertAttempt,
  type SignOnAttempt,
  useAttempt,
} from "../../store/control/sign-on-attempts.ts";
import type { Failed } from "./discover.ts";
import type { Provider } from "./provider.ts";

export const ATTEMPT_SECONDS = 10 * 60;
/**
 * Maximum number of open sign-ins, for all browsers together. Further ones end the oldest. If they were rejected, a few networks could keep
 * everybody out.
 */
const ATTEMPTS_MAX = 10_000;

export type Destination = Pick<SignOnAttempt, "returnPath" | "memberId" | "sessionHash">;

/** Stores what the provider's response must match, and returns the provider's URL and the token for the browser's cookie. */
export async function startAttempt(
  control: Pool,
  provider: Provider,
  destination: Destination,
): Promise<{ kind: "started"; url: string; token: string } | Failed> {
  const authorized = await provider.authorize();
  if (authorized.kind !== "url") return authorized;
  const token = makeSecret("pur_attempt_");
  const tokenHash = hashSecret(token);
  const attempt = { ...destination, ...authorized.secrets, tokenHash, seconds: ATTEMPT_SECONDS };
  // If a crash loses an attempt, the person can start again.
  await lossyTransaction(control, async (tx) => {
    await deleteEndedAttempts(tx);
    if (destination.sessionHash === null) await deleteOldestAttempts(tx, ATTEMPTS_MAX - 1);
    else await deleteAttemptsOfSession(tx, destination.sessionHash);
    await insertAttempt(tx, attempt);
  });
  return { kind: "started", url: authorized.url, token };
}

/** Ends an attempt, before its code is exchanged. So two requests with the same callback cannot both continue. */
export function endAttempt(control: Pool, token: string): Promise<SignOnAttempt | null> {
  return transaction(control, (tx) => useAttempt(tx, hashSecret(token)));
}

/**
 * A page of the dashboard, to which the browser returns. `/` for anything else, because a redirect must lead neither to another site nor
 * to the API. Browsers read a backslash as a slash, and ignore tabs and line breaks.
 */
export function readReturnPath(text: string | undefined): string {
  if (text === undefined || text.length > 1_000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return "/";
  const path = URL.parse(text, "http://localhost")?.pathname ?? "";
  // A percent sign could hide the first part.
  return /^\/(manage|v1)(\/|$)|^\/[^/]*%|^\/\//i.test(path) ? "/" : text;
}
