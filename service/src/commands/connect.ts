import pg from "pg";
import { claimBackend } from "../postgres/own-backend.ts";
import { openPool, type Pool } from "../postgres/pool.ts";
import { Session } from "../postgres/session.ts";

/** Longer than the service's timeout, because a command must also connect to a busy server. */
const CONNECT_TIMEOUT_MS = 30_000;

type ConnectOptions = { readonly timeoutMs?: number };

/** Thrown if no usable connection could be opened, so nothing was changed. The message gives the reason. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";

  constructor(cause: unknown, timeoutMs: number) {
    super(`cannot use the database in DATABASE_URL: ${describeCause(cause, timeoutMs)}`, { cause });
  }
}

/** Connects a command to the primary, without a statement timeout. */
export async function connect(
  databaseUrl: string,
  { timeoutMs = CONNECT_TIMEOUT_MS }: ConnectOptions = {},
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: timeoutMs });
  client.on("error", () => {});
  try {
    await client.connect();
    // Migrations and diagnostics must also work on a database that has not been migrated.
    await claimBackend(client, { name: "command", timeoutMs, isMigrated: false });
  } catch (error) {
    await client.end().catch(() => {});
    throw new NoConnection(error, timeoutMs);
  }
  return client;
}

/** Connects before `work` begins, so that a connection failure is reported as `NoConnection`. */
export async function withPool<T>(
  databaseUrl: string,
  work: (pool: Pool) => Promise<T>,
  { timeoutMs = CONNECT_TIMEOUT_MS }: ConnectOptions = {},
): Promise<T> {
  const pool = openPool({
    url: databaseUrl,
    name: "command",
    sizeMax: 1,
    connectTimeoutMs: timeoutMs,
    onIdleError: () => {},
  });
  try {
    await pool.connect().then(
      (client) => client.release(),
      (error: unknown) => {
        throw new NoConnection(error, timeoutMs);
      },
    );
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Opens a session with a lane's settings, which prevent full scans. A full scan would slow down other queries. */
export async function openVerification(options: {
  url: string;
  statementTimeoutMs?: number;
}): Promise<Session> {
  try {
    return await Session.open({ name: "verify", connectTimeoutMs: CONNECT_TIMEOUT_MS, ...options });
  } catch (error) {
    // A plain error, because the class of an error is lost when it passes between threads.
    const { message } = new NoConnection(error, CONNECT_TIMEOUT_MS);
    throw new Error(`${message}. Nothing was verified`, { cause: error });
  }
}

/** The driver's message if the server does not support SSL. This error has no code. */
export const NO_SSL = "The server does not support SSL connections";

function describeCause(cause: unknown, timeoutMs: number): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message === NO_SSL)
    return `${message}: remove sslmode from the URL if the server is on this machine, otherwise turn on ssl on the server`;
  if (/^timeout expired$|connection timeout/.test(message))
    return `no connection within ${timeoutMs / 1_000} s`;
  return message;
}
