import type { PoolClient } from "pg";
import { assert } from "../primitives/assert.ts";
import { commit } from "./commit.ts";
import { Lacking } from "./lacking.ts";
import { OutcomeUnknown } from "./outcome-unknown.ts";
import { backendOf, begin, findWaiting, UnfitConnection } from "./own-backend.ts";
import type { Pool } from "./pool.ts";
import { findDatabaseTrouble } from "./sql-error.ts";
import { type Parameter, type Rows, type Statement, type Tx, toRows } from "./statement.ts";

/**
 * Runs `work` in one transaction and returns only what is certainly committed. A result that `isKept` turns down is
 * returned too, and everything that led to it is rolled back: a refusal leaves nothing behind.
 *
 * `confirm` is for results that are rolled back and acknowledged all the same, because nothing had to be changed. It locks a row, and
 * is committed on the same backend, so on the same primary: then what the work has read is as durable as what it would have written.
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

/** An open snapshot keeps the dead versions of a busy wallet's row alive: it may be open as long as one statement may run. */
const SNAPSHOT_MS = 4_000;
/** So much later a statement may end than that: whoever is quick is not asked about the time before each. */
const LATE_MS = 200;

/**
 * Reads that all see one and the same instant, whatever is written meanwhile; the server refuses to write in it. They have
 * the time of one statement together, and what runs out of it fails as that one would.
 */
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

/** Reads that need no common instant; the server refuses to write in it. As quick as without a transaction. */
export async function single<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient(pool, async (client, tx) => {
    const begun = begin(client, "read committed, read only");
    // Right behind it, without waiting for its answer. Nothing is returned before that is known.
    const working = (async () => work(tx))();
    // Also after a failed begin: the next owner of this client must not find statements of this work under way.
    await Promise.allSettled([begun, working]);
    await begun;
    const result = await working;
    // Nobody waits for it: there is nothing to undo, and whoever is next comes after it.
    client.query("rollback").catch(() => {});
    return result;
  });
}

type Work<T> = (client: PoolClient, tx: Tx) => Promise<T>;

async function withClient<T>(pool: Pool, work: Work<T>): Promise<T> {
  const client = await pool.connect();
  let isOver = false;
  const tx: Tx = {
    source: pool,
    async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
      // Work that fails in one of two branches may go on in the other, and the client has its next owner by then.
      assert(!isOver, "a statement came after its transaction has ended");
      return toRows(await client.query({ ...statement, values: [...parameters], rowMode: "array" }));
    },
  };
  try {
    const result = await untilNothingLacks(client, tx, work);
    isOver = true;
    client.release();
    return result;
  } catch (error) {
    isOver = true;
    client.release(await mustDestroy(client, error));
    throw error;
  }
}

/** A page of customers may lack one thing after another. Beyond this it is overloaded. */
const FETCHES_MAX = 200;

async function untilNothingLacks<T>(client: PoolClient, tx: Tx, work: Work<T>): Promise<T> {
  for (let fetches = 0; ; fetches++) {
    try {
      return await work(client, tx);
    } catch (error) {
      if (!(error instanceof Lacking) || fetches === FETCHES_MAX) throw error;
      await client.query("rollback");
      await begin(client, "read committed, read only");
      await error.fetch(tx);
      await client.query("rollback");
    }
  }
}

/**
 * A client goes back to the pool only when its rollback was answered. Where the connection is known to be lost, or a commit
 * is perhaps still under way, nobody waits for that.
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
