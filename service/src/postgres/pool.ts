import pg from "pg";

export type Pool = pg.Pool;

/** Connections for everything but the lanes: control plane, jobs, commands. */
export function openPool(options: {
  url: string;
  name: string;
  sizeMax: number;
  onIdleError: (error: Error) => void;
}): Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.sizeMax,
    connectionTimeoutMillis: 1_000,
    query_timeout: 5_000,
    statement_timeout: 4_000,
    // A process that is cut off in the middle of a transaction must not hold wallets until TCP gives it up.
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 5_000,
    // As in the lanes: the length of a day must not depend on who counts it. No statement may run long enough to be worth
    // compiling, which takes longer than most of those that a planner would do it for.
    options: "-c timezone=UTC -c jit=off",
    keepAlive: true,
  });
  // Without a listener, a server restart while a connection idles would end the process.
  pool.on("error", options.onIdleError);
  // Between checkout and release the pool listens no longer; an error then also fails the query at hand.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
