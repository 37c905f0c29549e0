import { Problem } from "../edge/problem.ts";
import { OutcomeUnknown } from "../postgres/commit.ts";
import { findDatabaseTrouble, ShareFull } from "../postgres/sql-error.ts";

/**
 * Runs a read after a change that is already committed. If the read fails, the outcome is reported as unknown, because a retry of the whole
 * call could make the change twice.
 */
export async function afterCommit<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (findDatabaseTrouble(error) === null) throw error;
    throw new OutcomeUnknown("a read after a committed change", { cause: error });
  }
}

/** Converts database failures into retryable problems that state whether anything was changed. Rethrows other errors. */
export async function reportDatabaseErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutcomeUnknown) {
      throw new Problem("outcome_unknown", {
        detail:
          "The change may or may not have been made. Check before you retry. Requests with a reference, or marked safe to repeat, can be retried.",
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    switch (findDatabaseTrouble(error)) {
      case "lost":
        throw new Problem("unavailable", {
          detail: "Nothing was changed. Try again shortly.",
          retryAfterSeconds: 1,
          cause: error,
        });
      case "busy":
        throw new Problem("overloaded", {
          detail: "Nothing was changed. Try again shortly.",
          retryAfterSeconds: 1,
          // Logged for each call, unless the caller's own project causes the load.
          ...(error instanceof ShareFull ? {} : { cause: error }),
        });
      case null:
        throw error;
    }
  }
}
