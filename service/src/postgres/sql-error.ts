import pg from "pg";

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
  // Whatever is not an answer of the server (a reset, a time-out) leaves the connection in an unknown state.
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return { kind: "lost" };
  if (error.severity === "FATAL" || error.severity === "PANIC") return { kind: "lost" };
  const { code } = error;
  switch (code) {
    case "23505": // unique_violation
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return { kind: "conflict", constraint: error.constraint ?? null };
    case "0A000": // feature_not_supported: a prepared statement's result has changed its type
    case "25006": // read_only_sql_transaction: this primary was demoted
    case "25P03": // idle_in_transaction_session_timeout
    case "25P04": // transaction_timeout
    case "26000": // invalid_sql_statement_name: a prepared statement is gone
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

/** What the driver says when the server cannot be reached or no longer answers. */
const LOST =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error)/;
const LOST_CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
]);

/**
 * Whether an error that ended some work is the database's trouble, rather than a mistake in that work. Where only the
 * database was asked `decodeSqlError` is enough; here anything may have been thrown.
 */
export function findDatabaseTrouble(error: unknown): "lost" | "busy" | null {
  if (error instanceof pg.DatabaseError) {
    const { kind } = decodeSqlError(error);
    // Somebody else was first: rolled back, and safe to try again.
    if (kind === "conflict") return "busy";
    return kind === "lost" || kind === "busy" ? kind : null;
  }
  if (!(error instanceof Error)) return null;
  const code = "code" in error ? error.code : null;
  return LOST.test(error.message) || LOST_CODES.has(code) ? "lost" : null;
}
