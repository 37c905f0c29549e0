import pg from "pg";
import { AtOnce } from "../primitives/at-once.ts";
import type { ProjectId } from "../primitives/brand.ts";
import { claimBackend } from "./own-backend.ts";
import { ShareFull } from "./sql-error.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/** Connections for the control plane, jobs and commands, or one project's share of them. Lanes and readers use sessions. */
export type Pool = {
  connect(): Promise<pg.PoolClient>;
  /** Identifies the pool. Shares of one pool have the same source. */
  readonly source: object;
  /** Backends whose commit got no response. Each may still wait for a synchronous standby. */
  unanswered: readonly number[];
  /** Runs work that uses one connection. Waits while the project already uses its share. */
  enter<T>(work: () => Promise<T>): Promise<T>;
};

/** A pool with its connections, which the owner has to close. */
export class OpenPool extends pg.Pool implements Pool {
  readonly source = this;
  unanswered: readonly number[] = [];

  enter<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }
}

const SHARE = 3 / 8;
const WAITING_MAX = 200;
const WAIT_MS_MAX = 4_000;

/**
 * Lets each project use three of eight connections of a pool. A pool can be shared twice, for calls from people and from backends, so that
 * one kind cannot block the other, and both cannot block other projects.
 */
export class SharedPool {
  readonly #pool: OpenPool;
  readonly #atOnce: AtOnce<ProjectId>;

  constructor(pool: OpenPool) {
    this.#pool = pool;
    const max = Math.max(1, Math.floor(pool.options.max * SHARE));
    const refusal = () => new ShareFull();
    this.#atOnce = new AtOnce({ max, waitingMax: WAITING_MAX, waitMsMax: WAIT_MS_MAX, refusal });
  }

  shareOf(projectId: ProjectId): Pool {
    const pool = this.#pool;
    const atOnce = this.#atOnce;
    return {
      connect: () => pool.connect(),
      source: pool.source,
      get unanswered() {
        return pool.unanswered;
      },
      set unanswered(backends) {
        pool.unanswered = backends;
      },
      enter: (work) => atOnce.run(projectId, work),
    };
  }
}

export function openPool(options: {
  url: string;
  name: string;
  sizeMax: number;
  connectTimeoutMs?: number;
  onIdleError: (error: Error) => void;
}): OpenPool {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const pool = new OpenPool({
    connectionString: options.url,
    max: options.sizeMax,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: 5_000,
    // Sends a read together with its `begin`.
    pipeline: true,
    keepAlive: true,
    onConnect: (client) =>
      claimBackend(client, { name: options.name, settings: SETTINGS, timeoutMs: connectTimeoutMs }),
  });
  // Without a listener, a server restart while a connection is idle would end the process.
  pool.on("error", options.onIdleError);
  // While a connection is checked out, the pool has no error listener. Ignored, because the running query fails with the same error.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

const SETTINGS = `
  set statement_timeout = '4s';
  -- A process that loses its network during a transaction must not keep locks until TCP times out.
  set lock_timeout = '2s';
  set idle_in_transaction_session_timeout = '5s';
  -- Lists with optional filters are planned for the given filters, even if the server or role has another default.
  set plan_cache_mode = auto;
  -- Compiling takes longer than most statements it would be used for.
  set jit = off;`;
