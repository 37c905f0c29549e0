import { Problem } from "../edge/problem.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { AtOnce } from "../primitives/at-once.ts";
import type { CustomerId } from "../primitives/brand.ts";
import type { Context } from "./context.ts";

/** One transaction per customer at a time. Calls that wait too long fail with `overloaded`, before a typical client times out. */
const TURN = { max: 1, waitingMax: 100, waitMsMax: 8_000, refusal: tooMany };

/**
 * Runs a transaction on the wallets of one or more customers. Within a process, calls for the same customer queue before they take a
 * connection. Otherwise, twenty calls that wait for one lock would hold every connection in the pool. Between processes, calls wait
 * for the wallet's row lock.
 */
export function walletTransaction<T>(
  cell: Pool,
  { environmentId }: Context,
  customerId: CustomerId | readonly CustomerId[],
  work: (tx: Tx) => Promise<T>,
  isKept?: (result: T) => boolean,
): Promise<T> {
  const turns = TURNS.get(cell.source) ?? new AtOnce<string>(TURN);
  TURNS.set(cell.source, turns);
  // Sorted, so that two calls for the same customers cannot deadlock.
  const customers = [...new Set([customerId].flat())].sort();
  const run = customers.reduceRight(
    (next, customer) => () => turns.run(`${environmentId} ${customer}`, next),
    () => transaction(cell, work, isKept),
  );
  return run();
}

const TURNS = new WeakMap<object, AtOnce<string>>();

function tooMany(): Problem {
  return new Problem("overloaded", {
    detail: "Too many changes to this customer are waiting. Nothing was changed. Try again shortly.",
    retryAfterSeconds: 1,
  });
}
