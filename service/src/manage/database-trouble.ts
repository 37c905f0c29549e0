import { Problem } from "../edge/problem.ts";
import { OutcomeUnknown } from "../postgres/outcome-unknown.ts";
import { findDatabaseTrouble } from "../postgres/sql-error.ts";

/** What the database could not do is told as such, and not as a mistake of ours: the caller knows whether to try again. */
export async function tellTrouble<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutcomeUnknown) {
      throw new Problem("outcome_unknown", {
        detail:
          "The change may or may not have been made. Look before you repeat it; what carries a reference or is safe to repeat, repeat.",
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
