import type { PoolClient } from "pg";
import { commit } from "./commit.ts";
import { Lacking } from "./lacking.ts";
import { OutcomeUnknown } from "./outcome-unknown.ts";
import { backendOf, begin, findWaiting, UnfitConnection } from "./own-backend.ts";
import type { Pool } from "./pool.ts";
import { decodeSqlError } from "./sql-error.ts";
import { type Parameter, type Rows, type Statement, type Tx, toRows } from "./statement.ts";

/**
 * Runs `work` in one transaction and returns only what is certainly committed. A result that `isKept` turns down is
 * returned too, and everything that led to it is rolled back: a refusal leaves nothing behind.
 */
export async function transaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  isKept: (result: T) => boolean = () => true,
): Promise<T> {
  return withClient(pool, async (client) => {
    await begin(client, "read committed");
    const tx = toTx(pool, client);
    await refuseWhileWaiting(pool, tx);
    const result = await work(tx);
    if (isKept(result)) await commitOn(pool, client);
    else await client.query("rollback");
    return result;
  });
}

/**
 * A commit that waits for a standby outlives the client that gave it up. While one does, the pool begins no other: at most as
 * many wait as the pool has connections, and the server never runs out of them.
 */
async function refuseWhileWaiting(pool: Pool, tx: Tx): Promise<void> {
  if (pool.unanswered.length === 0) return;
  const asked = pool.unanswered;
  const waiting = await findWaiting(tx, asked);
  // Another commit may have joined them meanwhile.
  pool.unanswered = pool.unanswered.filter((pid) => waiting.includes(pid) || !asked.includes(pid));
  if (pool.unanswered.length > 0) throw new UnfitConnection("waiting");
}

/** For what nobody is promised, such as a last use: it waits neither for the disk nor for a standby, and a crash may lose it. */
export async function lossyTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await begin(client, "read committed");
    await client.query("set local synchronous_commit = off");
    const result = await work(toTx(pool, client));
    await commit(client);
    return result;
  });
}

async function commitOn(pool: Pool, client: PoolClient): Promise<void> {
  try {
    await commit(client);
  } catch (error) {
    if (error instanceof OutcomeUnknown) pool.unanswered = [...pool.unanswered, backendOf(client)];
    throw error;
  }
}

/** An open snapshot keeps the dead versions of a busy wallet's row alive: it may be open as long as one statement may run. */
const SNAPSHOT_MS = 4_000;
/** So much later a statement may end than that: whoever is quick is not asked about the time before each. */
const LATE_MS = 200;

/**
 * Reads that all see one and the same instant, whatever is written meanwhile; the server refuses to write in it. They have
 * the time of one statement together, and what runs out of it fails as that one would.
 */
export async function snapshot<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await begin(client, "repeatable read, read only");
    const result = await work(withinTime(pool, client, SNAPSHOT_MS));
    await client.query("rollback");
    return result;
  });
}

function withinTime(pool: Pool, client: PoolClient, ms: number): Tx {
  const tx = toTx(pool, client);
  const startedMs = performance.now();
  let allowedMs = ms;
  return {
    source: pool,
    async run(statement, parameters) {
      const leftMs = Math.max(1, Math.floor(ms - (performance.now() - startedMs)));
      if (leftMs < allowedMs - LATE_MS) {
        await client.query(`set local statement_timeout = ${leftMs}`);
        allowedMs = leftMs;
      }
      return tx.run(statement, parameters);
    },
  };
}

/** Reads that need no common instant; the server refuses to write in it. As quick as without a transaction. */
export async function single<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    const begun = begin(client, "read committed, read only");
    // Right behind it, without waiting for its answer. Nothing is returned before that is known.
    const working = work(toTx(pool, client));
    // Also after a failed begin: the next owner of this client must not find statements of this work under way.
    await Promise.allSettled([begun, working]);
    await begun;
    const result = await working;
    // Nobody waits for it: there is nothing to undo, and whoever is next comes after it.
    client.query("rollback").catch(() => {});
    return result;
  });
}

async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await untilNothingLacks(pool, client, work);
    client.release();
    return result;
  } catch (error) {
    client.release(await mustDestroy(client, error));
    throw error;
  }
}

/** A page of customers may lack one thing after another. */
const FETCHES_MAX = 1_000;

async function untilNothingLacks<T>(
  pool: Pool,
  client: PoolClient,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  for (let fetches = 0; ; fetches++) {
    try {
      return await work(client);
    } catch (error) {
      if (!(error instanceof Lacking) || fetches === FETCHES_MAX) throw error;
      await client.query("rollback");
      await begin(client, "read committed, read only");
      await error.fetch(toTx(pool, client));
      await client.query("rollback");
    }
  }
}

/** A client goes back to the pool only when the server itself answered, and its rollback was answered too. */
async function mustDestroy(client: PoolClient, error: unknown): Promise<boolean> {
  if (decodeSqlError(error).kind === "lost") return true;
  try {
    await client.query("rollback");
    return false;
  } catch {
    return true;
  }
}

function toTx(pool: Pool, client: PoolClient): Tx {
  return {
    source: pool,
    async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
      return toRows(await client.query({ ...statement, values: [...parameters], rowMode: "array" }));
    },
  };
}
