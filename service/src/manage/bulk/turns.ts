import { Problem } from "../../edge/problem.ts";
import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";

/** Long work for many customers: so many at once leave processor and connections to everybody else. Per process. */
const AT_ONCE_MAX = 2;
const RETRY_AFTER_SECONDS = 10;

export class Turns {
  #running = 0;

  async take<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** For work that goes on after its call was answered. Returns what ends the turn. */
  begin(): () => void {
    if (this.#running >= AT_ONCE_MAX) {
      throw new Problem("overloaded", {
        detail: `This process is at ${AT_ONCE_MAX} such calls already. Send it again when one is done.`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#running += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#running -= 1;
      isOver = true;
    };
  }
}

/** Long work that the database interrupts has changed something already, and can be sent again. */
export async function tellInterruption<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown) && findDatabaseTrouble(error) === null) throw error;
    throw new Problem("outcome_unknown", {
      detail:
        "The database failed on the way. What was done until then stands: sent again, this does the rest.",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}
