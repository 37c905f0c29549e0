import { Problem } from "../edge/problem.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import { AtOnce } from "../primitives/at-once.ts";
import type { CustomerId } from "../primitives/brand.ts";
import type { Context } from "./context.ts";

/** One transaction of a customer at a time. Callers that would wait longer get `overloaded`, well before their own timeout. */
const TURN = { max: 1, waitingMax: 100, waitMsMax: 8_000, refusal: tooMany };

/**
 * Runs a transaction on the wallet of one customer, or of several. Within a process, calls for the same customer queue before they take a connection.
 * Otherwise twenty of them would hold every connection in the pool while waiting for one lock. Between processes, the row lock of
 * the wallet has the same effect.
 */
export function walletTransaction<T>(
  cell: Pool,
  { environmentId }: Context,
  customerId: CustomerId | readonly CustomerId[],
  work: (tx: Tx) => Promise<T>,
  isKept?: (result: T) => boolean,
): Promise<T> {
  const turns = TURNS.get(cell) ?? new AtOnce<string>(TURN);
  TURNS.set(cell, turns);
  // Sorted, so that two calls with the same customers cannot wait for each other.
  const customers = [...new Set([customerId].flat())].sort();
  const run = customers.reduceRight(
    (next, customer) => () => turns.run(`${environmentId} ${customer}`, next),
    () => transaction(cell, work, isKept),
  );
  return run();
}

const TURNS = new WeakMap<Pool, AtOnce<string>>();

function tooMany(): Problem {
  return new Problem("overloaded", {
    detail: "Too many changes to this customer are waiting. Nothing was changed. Try again shortly.",
    retryAfterSeconds: 1,
  });
}
