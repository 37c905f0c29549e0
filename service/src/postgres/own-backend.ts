import { randomUUID } from "node:crypto";
import pg, { type ClientBase } from "pg";
import { assert } from "../primitives/assert.ts";
import { VERSION } from "../primitives/version.ts";
import { statement, type Tx } from "./statement.ts";

// Lanes, readers, pools and commands depend on session settings. This file applies them when a connection opens, and checks
// at the start of every transaction that it still runs on the same backend.

/** Applied by `set`, because a pooler may reject or silently drop start-up parameters. */
const SETTINGS = `
  -- A higher level, such as error, would hide the warning that a commit did not reach its standby.
  set client_min_messages = 'warning';
  -- Days must have the same length in every session.
  set timezone = 'UTC';
  -- At least as strong as a flush here and on a standby. Always set, because a reload of the server's configuration
  -- changes every value that the session has not set. remote_apply, which is stronger, is kept.
  select set_config(
    'synchronous_commit',
    case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end,
    false
  );`;

/** The newest data format that this release reads and writes. See docs/decisions/0019-upgrades.md. */
export const DATA_FORMAT = 2;

/**
 * Shown in pg_stat_activity, as `purser/0.2.0 format/2 lane`: the release, and the newest data format that it reads.
 * `raiseDataFormat` uses this name to find processes that cannot read a new format.
 */
function applicationName(part: string): string {
  return `purser/${VERSION} format/${DATA_FORMAT} ${part}`;
}

const WHY = {
  shared:
    "connections are shared between transactions, so session settings are lost: a pooler is running in transaction or statement mode; " +
    "use its session mode, or connect to PostgreSQL directly",
  standby: "the server is a standby, in recovery and read-only: Purser needs the primary",
  waiting: "an earlier commit is still waiting for a synchronous standby",
  newer: "the database has data from a newer release, which this one cannot read: upgrade Purser",
} as const;

/** A connection that must not be used, with the reason. Nothing was changed. */
export class UnfitConnection extends Error {
  override readonly name = "UnfitConnection";
  readonly reason: keyof typeof WHY;

  constructor(reason: keyof typeof WHY, options?: ErrorOptions) {
    super(WHY[reason], options);
    this.reason = reason;
  }
}

/** Default timeout, for commands, which are not time-critical. */
const CLAIM_TIMEOUT_MS = 5_000;

type Backend = { readonly mark: string; readonly pid: number };

const backends = new WeakMap<ClientBase, Backend>();

/**
 * Applies the settings, including the caller's, and marks the backend as this client's. Rejects a standby. If the database is
 * migrated, also rejects data in a newer format. Returns the format. Takes one round trip. It fails after `timeoutMs`, because a
 * pooler without a free connection would keep it waiting.
 */
export async function claimBackend(
  client: ClientBase,
  {
    name,
    settings = "",
    timeoutMs = CLAIM_TIMEOUT_MS,
    isMigrated = true,
  }: { name: string; settings?: string; timeoutMs?: number; isMigrated?: boolean },
): Promise<{ readonly dataFormat: number }> {
  const mark = randomUUID();
  const timer = setTimeout(() => {
    if (client instanceof pg.Client) client.connection.stream.destroy();
  }, timeoutMs);
  const results = await client
    .query(`
    ${settings}
    ${SETTINGS}
    set purser.connection = '${mark}';
    set application_name = ${pg.escapeLiteral(applicationName(name))};
    select
      pg_backend_pid() as pid,
      pg_is_in_recovery() as is_standby,
      ${isMigrated ? "(select data_format from cell.identity)" : "0"} as data_format`)
    .finally(() => clearTimeout(timer));
  const [row] = lastOf(results).rows;
  if (row?.is_standby !== false) throw new UnfitConnection("standby");
  if (row.data_format > DATA_FORMAT) throw new UnfitConnection("newer");
  backends.set(client, { mark, pid: Number(row.pid) });
  return { dataFormat: Number(row.data_format) };
}

/** The backend's real process ID; a pooler may report another one to the driver. */
export function backendOf(client: ClientBase): number {
  return claimed(client).pid;
}

/** Errors on a shared backend: undefined_object if it was not claimed, and protocol_violation from PgBouncer in statement mode. */
const SHARED: ReadonlySet<string> = new Set(["42704", "08P01"]);

/**
 * Begins a transaction and checks in the same round trip that it runs on the client's own backend. That backend is still on a
 * primary, because a server ends its backends before it becomes a standby.
 */
export async function begin(client: ClientBase, mode: string): Promise<void> {
  let found: unknown;
  try {
    const results = await client.query(`begin isolation level ${mode}; show purser.connection`);
    found = lastOf(results).rows[0]?.["purser.connection"];
  } catch (error) {
    throw error instanceof pg.DatabaseError && SHARED.has(error.code ?? "")
      ? new UnfitConnection("shared", { cause: error })
      : error;
  }
  refuseOther(client, found);
}

/** Selects the mark for `refuseOther`, in statements that run without `begin`. */
export const MARK = "current_setting('purser.connection', true)";

/** Throws if another backend responded. */
export function refuseOther(client: ClientBase, mark: unknown): void {
  if (mark !== claimed(client).mark) throw new UnfitConnection("shared");
}

const FIND_WAITING = statement(
  "backends.find_waiting",
  `
  select pid
  from pg_stat_activity
  where pid = any($1::integer[])
    -- The flush comes right before the wait for the standby. WALSync and WALWrite have been called WalSync and WalWrite since
    -- PostgreSQL 17.
    and lower(wait_event) in ('syncrep', 'walsync', 'walwrite')`,
);

/** Returns the backends among `pids` that still wait for a synchronous standby after their client gave up. */
export async function findWaiting(tx: Tx, pids: readonly number[]): Promise<number[]> {
  if (pids.length === 0) return [];
  const { rows } = await tx.run(FIND_WAITING, [pids]);
  return rows.map(([pid]) => Number(pid));
}

function claimed(client: ClientBase): Backend {
  const backend = backends.get(client);
  assert(backend !== undefined, "a connection is claimed before it is used");
  return backend;
}

/** Several statements in one query string return an array of results, which the types of `pg` do not show. */
function lastOf(results: pg.QueryResult | pg.QueryResult[]): pg.QueryResult {
  const last = [results].flat().at(-1);
  assert(last !== undefined, "every statement has a result");
  return last;
}
