import pg from "pg";
import { MissingData } from "./missing-data.ts";
import { UnfitConnection } from "./own-backend.ts";

/** What a database error means for the failed work. */
export type SqlFailure =
  /** Another transaction committed first, or there was a deadlock. Rolled back, and safe to retry. */
  | { kind: "conflict"; constraint: string | null }
  /** One of the rows is invalid. Rolled back. */
  | { kind: "bad_row"; constraint: string | null }
  /** The server is busy. Rolled back. */
  | { kind: "busy" }
  /** The connection is unusable. If a commit was in flight, its outcome is unknown. */
  | { kind: "lost" }
  /** A bug in Purser. Rolled back. */
  | { kind: "bug" };

export function decodeSqlError(error: unknown): SqlFailure {
  if (error instanceof UnfitConnection) return { kind: error.reason === "waiting" ? "busy" : "lost" };
  // Any error not sent by the server (a reset, a timeout) leaves the connection in an unknown state.
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return { kind: "lost" };
  if (error.severity === "FATAL" || error.severity === "PANIC") return { kind: "lost" };
  const { code } = error;
  switch (code) {
    case "23505": // unique_violation
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return { kind: "conflict", constraint: error.constraint ?? null };
    case "42501": // insufficient_privilege: perhaps only one row of a batch needs a privilege that was revoked
      return { kind: "bad_row", constraint: null };
    case "0A000": // feature_not_supported: the result type of a prepared statement changed
    case "25006": // read_only_sql_transaction: this primary was demoted
    case "25P03": // idle_in_transaction_session_timeout
    case "25P04": // transaction_timeout
    case "26000": // invalid_sql_statement_name: a prepared statement no longer exists
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

/** Whether a statement timed out, in the server or in the client. The same statement would time out again. */
export function isTooLong(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === "57014"; // query_canceled
  return error instanceof Error && error.message.startsWith("Query read timeout");
}

/** Whether the wait for a lock timed out. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03"; // lock_not_available
}

/** Whether the server rejected a well-formed value that it does not support, such as a time zone. */
export function isInvalidParameter(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "22023"; // invalid_parameter_value
}

/** Driver messages for a failed or broken connection. */
const BROKEN =
  /^(Connection terminated|Connection ended|timeout expired|Client has encountered a connection error)/;
/** Driver messages for a slow server or an exhausted pool. */
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
 * Whether a connection failed or broke. Examples: the connection was refused, was reset or timed out. The server has no free
 * connection, or is starting or stopping. A server that is slow or rejects a statement is not out of reach.
 */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof UnfitConnection) return true;
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[123]|53300)$/.test(error.code ?? "");
  return error instanceof Error && (BROKEN.test(error.message) || BROKEN_CODES.has(codeOf(error)));
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : null;
}

/** Thrown before any statement is sent, if too much work of the same project waits for connections, or if it waits too long. */
export class ShareFull extends Error {
  override readonly name = "ShareFull";
}

/**
 * Whether any error, not only a query error, is caused by the state of the database and not by a bug. For query errors,
 * `decodeSqlError` is enough.
 */
export function findDatabaseTrouble(error: unknown): "lost" | "busy" | null {
  if (error instanceof pg.DatabaseError || error instanceof UnfitConnection) {
    const { kind } = decodeSqlError(error);
    // Another transaction committed first. This one was rolled back and is safe to retry.
    if (kind === "conflict") return "busy";
    return kind === "lost" || kind === "busy" ? kind : null;
  }
  // The decision needs more of the catalog than could be loaded, so it was rolled back.
  if (error instanceof MissingData || error instanceof ShareFull) return "busy";
  return isOutOfReach(error) || (error instanceof Error && SLOW.test(error.message)) ? "lost" : null;
}
