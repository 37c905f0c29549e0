import { Problem } from "../edge/problem.ts";
import { OutcomeUnknown } from "../postgres/commit.ts";
import { findDatabaseTrouble } from "../postgres/sql-error.ts";

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
          cause: error,
        });
      case null:
        throw error;
    }
  }
}
