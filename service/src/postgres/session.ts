import pg from "pg";
import { commit } from "./commit.ts";
import { backendOf, begin, claimBackend, refuseOther } from "./own-backend.ts";
import { type Parameter, type Rows, type Statement, type Tx, toRows } from "./statement.ts";

/** One connection of a lane. Statements are sent without waiting for each other's answers: two trips a batch. */
export class Session implements Tx {
  readonly #client: pg.Client;
  #isOpen = true;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(options: { url: string; name: string; connectTimeoutMs: number }): Promise<Session> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: options.name,
      pipeline: true,
      connectionTimeoutMillis: options.connectTimeoutMs,
      // The client's own timer: no server timeout bounds a commit that waits for a standby.
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const session = new Session(client);
    client.on("error", () => session.destroy());
    client.on("end", () => session.destroy());
    try {
      await client.connect();
      await claimBackend(client, { settings: SETTINGS, timeoutMs: options.connectTimeoutMs });
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  get source(): object {
    return this;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The server's process at the other end. */
  get backend(): number {
    return backendOf(this.#client);
  }

  /** Without its transaction each statement would commit by itself, a charge without its key. Exact while nothing is under way. */
  requireTransaction(): void {
    const isInTransaction = this.#isOpen && this.#client.getTransactionStatus() === "T";
    if (!isInTransaction) throw new Error("the transaction was lost before anything was written");
  }

  run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
    const query = { ...statement, values: [...parameters], rowMode: "array" as const };
    const rows = this.#client.query(query).then(toRows);
    // Whoever sent it may have failed before it could wait: an answer that nobody hears must not end the process.
    rows.catch(() => {});
    return rows;
  }

  begin(): Promise<void> {
    return begin(this.#client, "read committed");
  }

  /** After a statement that ran without `begin`: throws if it was not this session's own backend that answered. */
  refuseOther(mark: unknown): void {
    refuseOther(this.#client, mark);
  }

  commit(): Promise<void> {
    return commit(this.#client);
  }

  async rollback(): Promise<void> {
    await this.#client.query("rollback");
  }

  /**
   * Sends several statements in one write, waits for all answers, then throws the first failure: nothing may still be
   * under way when the session is used again.
   */
  async trip<T extends readonly unknown[]>(
    send: () => readonly [...T],
  ): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
    const { stream } = this.#client.connection;
    stream.cork();
    let sent: readonly [...T];
    try {
      sent = send();
    } finally {
      stream.uncork();
    }
    await Promise.allSettled(sent);
    return Promise.all(sent);
  }

  /** Ends the connection at once, whatever it is doing. */
  destroy(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#client.end().catch(() => {});
    this.#client.connection.stream.destroy();
  }
}

// A lane's statements are all point look-ups and inserts, so it tells the planner so and plans each of them once:
// planning anew took longer than running a batch of 32, and a plan left to chance on an empty table stays bad (46 ms
// against 0.3 ms) until the table is analyzed.
const SETTINGS = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set enable_bitmapscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  -- A plan that needs what is off counts as endlessly expensive, and PostgreSQL would compile it for seconds each time.
  set jit = off;
  set lock_timeout = '1s';
  set statement_timeout = '4s';
  set idle_in_transaction_session_timeout = '2s';`;
