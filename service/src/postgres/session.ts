import pg from "pg";
import { commit } from "./commit.ts";
import { backendOf, begin, claimBackend, refuseOther } from "./own-backend.ts";
import { type Parameter, type Rows, type Statement, type Tx, toRows } from "./statement.ts";

const STATEMENT_TIMEOUT_MS = 4_000;

type SessionOptions = {
  readonly url: string;
  readonly name: string;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs?: number;
};

/** A lane's connection. Statements are pipelined, so a batch takes two round trips. */
export class Session implements Tx {
  readonly #client: pg.Client;
  #isOpen = true;
  /** The data format of the database when it was last read. It may have been raised since then. */
  dataFormat = 0;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(options: SessionOptions): Promise<Session> {
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
    const client = new pg.Client({
      connectionString: options.url,
      pipeline: true,
      connectionTimeoutMillis: options.connectTimeoutMs,
      // A client-side timer, because no server timeout limits a commit that waits for a standby.
      query_timeout: statementTimeoutMs + 1_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const session = new Session(client);
    client.on("error", () => session.destroy());
    client.on("end", () => session.destroy());
    try {
      await client.connect();
      const { dataFormat } = await claimBackend(client, {
        name: options.name,
        settings: `${SETTINGS} set statement_timeout = ${statementTimeoutMs};`,
        timeoutMs: options.connectTimeoutMs,
      });
      session.dataFormat = dataFormat;
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

  /** Process ID of the server's backend. */
  get backend(): number {
    return backendOf(this.#client);
  }

  /** Throws outside a transaction, where each statement would commit separately. Only reliable while no statement is in flight. */
  requireTransaction(): void {
    const isInTransaction = this.#isOpen && this.#client.getTransactionStatus() === "T";
    if (!isInTransaction) throw new Error("the transaction was lost before anything was written");
  }

  run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
    const query = { ...statement, values: [...parameters], rowMode: "array" as const };
    const rows = this.#client.query(query).then(toRows);
    // The sender may fail before it awaits this promise, and an unhandled rejection would end the process.
    rows.catch(() => {});
    return rows;
  }

  begin(): Promise<void> {
    return begin(this.#client, "read committed");
  }

  /** For statements without `begin`: throws if another backend responded. */
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
   * Sends several statements in one write, waits for all responses, and then throws the first failure, so that no statement
   * is in flight when the session is used again.
   */
  async roundTrip<T extends readonly unknown[]>(
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

  /** Ends the connection immediately. */
  destroy(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#client.end().catch(() => {});
    this.#client.connection.stream.destroy();
  }
}

// A lane runs only point lookups and inserts, so each statement is planned once, with other plan types disabled. Planning
// took longer than running a batch of 32, and a plan made on an empty table remains slow (46 ms instead of 0.3 ms) until the
// table is analyzed.
const SETTINGS = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set enable_bitmapscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  -- A plan that needs a disabled type has an extreme cost, and PostgreSQL would JIT-compile it for seconds each time.
  set jit = off;
  set lock_timeout = '1s';
  set idle_in_transaction_session_timeout = '2s';`;
