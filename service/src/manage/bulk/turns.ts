import { Problem } from "../../edge/problem.ts";
import { OutcomeUnknown } from "../../postgres/commit.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import { admitAgain, type Call } from "../operation.ts";

/** Maximum number of long-running calls per owner, and by default also in total, so that CPU and connections remain for other calls. */
const AT_ONCE_MAX = 2;
/** Maximum number of calls per process that mostly wait for the caller's network. Smaller than the shared connection pool. */
export const WAITING_FOR_CALLERS = 6;
const RETRY_AFTER_SECONDS = 10;

/** Limits concurrent long-running calls: two per owner (an environment or a workspace), and `allMax` in total. */
export class Turns {
  readonly #running = new Map<number, number>();
  readonly #allMax: number;
  #all = 0;

  constructor(allMax = AT_ONCE_MAX) {
    this.#allMax = allMax;
  }

  async take<T>(owner: number, work: () => Promise<T>): Promise<T> {
    const end = this.begin(owner);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Starts a turn for work that continues after the response has started. Returns the function that ends the turn. */
  begin(owner: number): () => void {
    const own = this.#running.get(owner) ?? 0;
    if (own >= AT_ONCE_MAX) throw full(`${own} of your long-running calls are already in progress.`);
    if (this.#all >= this.#allMax)
      throw full(`This process already has ${this.#all} long-running calls in progress.`);
    this.#change(owner, 1);
    let isOver = false;
    return () => {
      if (!isOver) this.#change(owner, -1);
      isOver = true;
    };
  }

  #change(owner: number, change: 1 | -1): void {
    const own = (this.#running.get(owner) ?? 0) + change;
    if (own === 0) this.#running.delete(owner);
    else this.#running.set(owner, own);
    this.#all += change;
  }
}

function full(reason: string): Problem {
  return new Problem("overloaded", {
    detail: `${reason} Try again when one has finished.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The caller of a long operation, who may disconnect or lose access before the operation ends. */
export type Caller = {
  isWaiting(): boolean;
  /** Throws if the caller has lost access. */
  admitAgain(): Promise<void>;
};

export function callerOf(call: Call): Caller {
  return {
    isWaiting: () => !call.reply.raw.destroyed,
    admitAgain: () => admitAgain(call).catch(throwTrouble),
  };
}

/** Throws the underlying database error, so that `withRetries` recognizes the error and retries. */
function throwTrouble(error: unknown): never {
  throw error instanceof Problem && error.cause !== undefined ? error.cause : error;
}

/** Throws `outcome_unknown` if the database fails during the work. Completed work is kept. Repeating the call does the rest. */
export async function reportInterruption<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown) && findDatabaseTrouble(error) === null) throw error;
    throw new Problem("outcome_unknown", {
      detail:
        "The database failed before the work was finished. Completed work is kept. Send the same call again to do the rest.",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}
