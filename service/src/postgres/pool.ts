import pg from "pg";
import { claimBackend } from "./own-backend.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/** Connections for everything but the lanes: control plane, jobs, commands. */
export class Pool extends pg.Pool {
  /** Backends whose commit was not answered: each may still wait for a synchronous standby. */
  unanswered: readonly number[] = [];
}

export function openPool(options: {
  url: string;
  name: string;
  sizeMax: number;
  connectTimeoutMs?: number;
  onIdleError: (error: Error) => void;
}): Pool {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.sizeMax,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: 5_000,
    // A read and the beginning of its transaction travel together.
    pipeline: true,
    keepAlive: true,
    onConnect: (client) => claimBackend(client, { settings: SETTINGS, timeoutMs: connectTimeoutMs }),
  });
  // Without a listener, a server restart while a connection idles would end the process.
  pool.on("error", options.onIdleError);
  // Between checkout and release the pool listens no longer; an error then also fails the query at hand.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

const SETTINGS = `
  set statement_timeout = '4s';
  -- A process that is cut off in the middle of a transaction must not hold wallets until TCP gives it up.
  set lock_timeout = '2s';
  set idle_in_transaction_session_timeout = '5s';
  -- Lists with optional filters are planned for the filters there are, whatever the server's or the role's default is.
  set plan_cache_mode = auto;
  -- No statement may run long enough to be worth compiling, which takes longer than most of those that a planner would do it for.
  set jit = off;`;
