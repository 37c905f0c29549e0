import type { Repairing } from "../src/commands/verify/usage/repair-day.ts";
import type { Session } from "../src/postgres/session.ts";
import type { Parameter, Rows, Statement } from "../src/postgres/statement.ts";

/** A session that calls `onRun` before each statement. If `onRun` throws, the statement fails. */
export class WatchedSession implements Repairing {
  readonly #session: Session;
  readonly #onRun: (statement: Statement, parameters: readonly Parameter[]) => Promise<void>;

  constructor(
    session: Session,
    onRun: (statement: Statement, parameters: readonly Parameter[]) => Promise<void>,
  ) {
    this.#session = session;
    this.#onRun = onRun;
  }

  get source(): object {
    return this.#session;
  }

  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  begin = () => this.#session.begin();
  commit = () => this.#session.commit();
  rollback = () => this.#session.rollback();

  async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
    await this.#onRun(statement, parameters);
    return this.#session.run(statement, parameters);
  }
}
