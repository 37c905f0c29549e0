import type { PoolClient } from "pg";
import { assert } from "../primitives/assert.ts";
import { commit, OutcomeUnknown } from "./commit.ts";
import { MissingData } from "./missing-data.ts";
import { backendOf, begin, findWaiting, UnfitConnection } from "./own-backend.ts";
import type { Pool } from "./pool.ts";
import { findDatabaseTrouble } from "./sql-error.ts";
import { type Parameter, type Rows, type Statement, type Tx, toRows } from "./statement.ts";

/**
 * Runs `work` in one transaction, and returns its result only if the commit certainly succeeded. If `isKept` returns false, rolls
 * back and returns the result, so nothing is written.
 *
 * `confirm` is for results that are acknowledged although they were rolled back, because nothing had to change. It locks a row and
 * commits on the same backend. The commit proves that this server is still the primary, and that the data read is durable.
 */
export async function transaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  isKept: (result: T) => boolean = () => true,
  confirm: ((tx: Tx) => Promise<unknown>) | null = null,
): Promise<T> {
  return withClient(pool, async (client, tx) => {
    await begin(client, "read committed");
    await refuseWhileWaiting(pool, tx);
    const result = await work(tx);
    if (isKept(result)) {
      await commitOn(pool, client);
      return result;
    }
    await client.query("rollback");
    if (confirm !== null) {
      await begin(client, "read committed");
      await confirm(tx);
      await commitOn(pool, client);
    }
    return result;
  });
}

/**
 * A commit that waits for a standby outlives its client. While one is waiting, the pool starts no transaction, so that no
 * more backends wait than the pool has connections.
 */
async function refuseWhileWaiting(pool: Pool, tx: Tx): Promise<void> {
  if (pool.unanswered.length === 0) return;
  const asked = pool.unanswered;
  const waiting = await findWaiting(tx, asked);
  // Another backend may have been added during the query.
  pool.unanswered = pool.unanswered.filter((pid) => waiting.includes(pid) || !asked.includes(pid));
  if (pool.unanswered.length > 0) throw new UnfitConnection("waiting");
}

/** For data that may be lost in a crash, such as the last use of a key. The commit does not wait for a disk or standby. */
export async function lossyTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, tx) => {
    await begin(client, "read committed");
    await client.query("set local synchronous_commit = off");
    const result = await work(tx);
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

/** Maximum duration of a snapshot. Short, because an open snapshot prevents cleanup of dead row versions. */
const SNAPSHOT_MS = 4_000;
/** Tolerance, so that not every short statement needs a new timeout. */
const LATE_MS = 200;

/** Runs reads in a read-only transaction in which all reads see the same instant and share the timeout of one statement. */
export async function snapshot<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, tx) => {
    await begin(client, "repeatable read, read only");
    const result = await work(withinTime(tx, SNAPSHOT_MS));
    await client.query("rollback");
    return result;
  });
}

function withinTime(tx: Tx, ms: number): Tx {
  const startedMs = performance.now();
  let allowedMs = ms;
  return {
    source: tx.source,
    async run(statement, parameters) {
      const leftMs = Math.max(1, Math.floor(ms - (performance.now() - startedMs)));
      if (leftMs < allowedMs - LATE_MS) {
        await tx.run({ name: "", text: `set local statement_timeout = ${leftMs}` });
        allowedMs = leftMs;
      }
      return tx.run(statement, parameters);
    },
  };
}

/** Runs reads in a read-only transaction, in which each read may see a different instant. As fast as without a transaction. */
export async function single<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, tx) => {
    const begun = begin(client, "read committed, read only");
    // Sent right behind `begin`, without waiting for its response, which is checked below.
    const working = (async () => work(tx))();
    // Waits for both even after a failed `begin`: no statement may be in flight when the client is reused.
    await Promise.allSettled([begun, working]);
    await begun;
    const result = await working;
    // Not awaited: there is nothing to undo, and later statements from this client run after it.
    client.query("rollback").catch(() => {});
    return result;
  });
}

type Work<T> = (client: PoolClient, tx: Tx) => Promise<T>;

function withClient<T>(pool: Pool, work: Work<T>): Promise<T> {
  return pool.enter(() => useClient(pool, work));
}

async function useClient<T>(pool: Pool, work: Work<T>): Promise<T> {
  const client = await pool.connect();
  let isOver = false;
  const tx: Tx = {
    source: pool.source,
    async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
      // If one of two parallel branches of `work` fails, the other may continue after the client was released.
      assert(!isOver, "a statement was sent after its transaction ended");
      return toRows(await client.query({ ...statement, values: [...parameters], rowMode: "array" }));
    },
  };
  try {
    const result = await retryWhileDataMissing(client, tx, work);
    isOver = true;
    client.release();
    return result;
  } catch (error) {
    isOver = true;
    client.release(await mustDestroy(client, error));
    throw error;
  }
}

/** Maximum parts of the catalog to load, one after another, for work on a page of customers. */
const FETCHES_MAX = 200;

async function retryWhileDataMissing<T>(client: PoolClient, tx: Tx, work: Work<T>): Promise<T> {
  for (let fetches = 0; ; fetches++) {
    try {
      return await work(client, tx);
    } catch (error) {
      if (!(error instanceof MissingData) || fetches === FETCHES_MAX) throw error;
      await client.query("rollback");
      await begin(client, "read committed, read only");
      await error.fetch(tx);
      await client.query("rollback");
    }
  }
}

/**
 * A client returns to the pool only after its rollback was confirmed. If the connection is lost, or a commit may still be
 * running, it is destroyed instead.
 */
async function mustDestroy(client: PoolClient, error: unknown): Promise<boolean> {
  if (error instanceof OutcomeUnknown || findDatabaseTrouble(error) === "lost") return true;
  try {
    await client.query("rollback");
    return false;
  } catch {
    return true;
  }
}
