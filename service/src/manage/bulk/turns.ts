import { Problem } from "../../edge/problem.ts";
import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import { admitAgain, type Call } from "../operation.ts";

/** Long work for many customers: so many at once leave processor and connections to everybody else. Per process. */
const AT_ONCE_MAX = 2;
/** Work that mostly waits for its caller's network. Fewer than the connections that people and automation share. */
export const WAITING_FOR_CALLERS = 6;
const RETRY_AFTER_SECONDS = 10;

/**
 * Who may do long work at the same time: two of an owner (an environment or a workspace), so that one cannot keep the others out,
 * and so many in all.
 */
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

  /** For work that goes on after its call was answered. Returns what ends the turn. */
  begin(owner: number): () => void {
    const own = this.#running.get(owner) ?? 0;
    if (own >= AT_ONCE_MAX) throw full(`${own} such calls of yours are under way already.`);
    if (this.#all >= this.#allMax) throw full(`This process is at ${this.#all} such calls already.`);
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
    detail: `${reason} Send it again when one is done.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** A long operation may outlast its caller, who may hang up or lose access. */
export type Caller = {
  isWaiting(): boolean;
  /** Throws if they may not do this any more. */
  admitAgain(): Promise<void>;
};

export function callerOf(call: Call): Caller {
  return {
    isWaiting: () => !call.reply.raw.destroyed,
    admitAgain: () => admitAgain(call).catch(throwTrouble),
  };
}

/** A database that was away for a moment interrupts no long work: its own error is what is tried again. */
function throwTrouble(error: unknown): never {
  throw error instanceof Problem && error.cause !== undefined ? error.cause : error;
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
