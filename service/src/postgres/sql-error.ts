import pg from "pg";
import { Lacking } from "./lacking.ts";
import { UnfitConnection } from "./own-backend.ts";

/** What an error from the database means for the work that met it. */
export type SqlFailure =
  /** Another transaction was first, or two waited for each other: rolled back, and safe to run again. */
  | { kind: "conflict"; constraint: string | null }
  /** One of the rows is to blame: rolled back. */
  | { kind: "bad_row"; constraint: string | null }
  /** The server is busy or refuses for now: rolled back. */
  | { kind: "busy" }
  /** The connection is of no more use. Whether a commit that was under way took effect is not known. */
  | { kind: "lost" }
  /** A mistake of ours: rolled back. */
  | { kind: "bug" };

export function decodeSqlError(error: unknown): SqlFailure {
  if (error instanceof UnfitConnection) return { kind: error.reason === "waiting" ? "busy" : "lost" };
  // Whatever is not an answer of the server (a reset, a time-out) leaves the connection in an unknown state.
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return { kind: "lost" };
  if (error.severity === "FATAL" || error.severity === "PANIC") return { kind: "lost" };
  const { code } = error;
  switch (code) {
    case "23505": // unique_violation
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return { kind: "conflict", constraint: error.constraint ?? null };
    case "42501": // insufficient_privilege: of a batch, perhaps only one row needs a privilege that was revoked
      return { kind: "bad_row", constraint: null };
    case "0A000": // feature_not_supported: a prepared statement's result has changed its type
    case "25006": // read_only_sql_transaction: this primary was demoted
    case "25P03": // idle_in_transaction_session_timeout
    case "25P04": // transaction_timeout
    case "26000": // invalid_sql_statement_name: a prepared statement is gone
    case "42P05": // duplicate_prepared_statement: another client prepared it on this backend
      return { kind: "lost" };
    case "55P03": // lock_not_available
    case "57014": // query_canceled
      return { kind: "busy" };
  }
  switch (code.slice(0, 2)) {
    case "22":
    case "23":
      return { kind: "bad_row", constraint: error.constraint ?? null };
    case "53": // insufficient resources: disk, memory, connections
      return { kind: "busy" };
    case "08":
    case "57": // operator intervention: shutdown, crash, starting up
    case "58":
      return { kind: "lost" };
    default:
      return { kind: "bug" };
  }
}

/** Whether a statement was cut off for its length, by the server or by ourselves: the same again would be, too. */
export function isTooLong(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === "57014"; // query_canceled
  return error instanceof Error && error.message.startsWith("Query read timeout");
}

/** Whether somebody else held a lock for as long as we wait for one. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03"; // lock_not_available
}

/** Whether a value was well formed and yet no such thing is known to the server, such as a time zone. */
export function isInvalidParameter(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "22023"; // invalid_parameter_value
}

/** What the driver says when no connection could be had, or when one broke. */
const BROKEN =
  /^(Connection terminated|Connection ended|timeout expired|Client has encountered a connection error)/;
/** What it says when the server is slow: its answer, or all connections of a pool of ours. */
const SLOW = /^(timeout exceeded when trying to connect|Query read timeout)/;
const BROKEN_CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);

/**
 * Whether no connection could be had, or it broke: refused, reset, timed out while connecting, no connection left at the server,
 * or a server that stops or starts. One that is slow, or refuses a statement, is not out of reach.
 */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof UnfitConnection) return true;
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[123]|53300)$/.test(error.code ?? "");
  return error instanceof Error && (BROKEN.test(error.message) || BROKEN_CODES.has(codeOf(error)));
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : null;
}

/**
 * Whether an error that ended some work is the database's trouble, rather than a mistake in that work. Where only the
 * database was asked `decodeSqlError` is enough; here anything may have been thrown.
 */
export function findDatabaseTrouble(error: unknown): "lost" | "busy" | null {
  if (error instanceof pg.DatabaseError || error instanceof UnfitConnection) {
    const { kind } = decodeSqlError(error);
    // Somebody else was first: rolled back, and safe to try again.
    if (kind === "conflict") return "busy";
    return kind === "lost" || kind === "busy" ? kind : null;
  }
  // A decision that needs more of the catalog than could be fetched for it: rolled back.
  if (error instanceof Lacking) return "busy";
  return isOutOfReach(error) || (error instanceof Error && SLOW.test(error.message)) ? "lost" : null;
}
