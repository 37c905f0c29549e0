import pg from "pg";
import { claimBackend } from "./own-backend.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/** Connections for the control plane, jobs and commands. Lanes and readers use sessions. */
export class Pool extends pg.Pool {
  /** Backends whose commit got no response. Each may still wait for a synchronous standby. */
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
