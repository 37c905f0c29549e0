import type { Session } from "../../postgres/session.ts";
import type { Parameter, Rows, Statement, Tx } from "../../postgres/statement.ts";

/** Pause after each statement, as a multiple of the statement's duration. */
const REST_SHARE = 1;

/** Runs one statement at a time in its own transaction. Pauses after each statement, so that the service's requests come first. */
export class Unhurried implements Tx {
  readonly #session: Session;
  #restUntilMs = 0;
  #statementMsMax = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  get source(): object {
    return this.#session;
  }

  get statementMsMax(): number {
    return this.#statementMsMax;
  }

  async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
    const restMs = this.#restUntilMs - performance.now();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    const startMs = performance.now();
    try {
      return await this.#session.run(statement, parameters);
    } finally {
      const endMs = performance.now();
      this.#statementMsMax = Math.max(this.#statementMsMax, endMs - startMs);
      this.#restUntilMs = endMs + (endMs - startMs) * REST_SHARE;
    }
  }
}
