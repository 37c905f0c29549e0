import { Problem } from "../edge/problem.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import type { CustomerId } from "../primitives/brand.ts";
import type { Context } from "./context.ts";

/** Callers that would wait longer get `overloaded`, well before their own timeout. */
const WAIT_MS_MAX = 8_000;
const WAITING_MAX = 100;

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
  const turns = TURNS.get(cell) ?? new CustomerTurns();
  TURNS.set(cell, turns);
  // Sorted, so that two calls with the same customers cannot wait for each other.
  const customers = [...new Set([customerId].flat())].sort();
  const run = customers.reduceRight(
    (next, customer) => () => turns.take(`${environmentId} ${customer}`, next),
    () => transaction(cell, work, isKept),
  );
  return run();
}

const TURNS = new WeakMap<Pool, CustomerTurns>();

class CustomerTurns {
  /** Waiting callers in order of arrival, by customer. A customer is in the map while a transaction is running. */
  readonly #waiting = new Map<string, (() => void)[]>();

  async take<T>(customer: string, work: () => Promise<T>): Promise<T> {
    await this.#begin(customer);
    try {
      return await work();
    } finally {
      this.#end(customer);
    }
  }

  async #begin(customer: string): Promise<void> {
    const line = this.#waiting.get(customer);
    if (line === undefined) {
      this.#waiting.set(customer, []);
      return;
    }
    if (line.length >= WAITING_MAX) throw tooMany();
    const turn = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      line.splice(line.indexOf(turn.resolve), 1);
      turn.reject(tooMany());
    }, WAIT_MS_MAX);
    line.push(turn.resolve);
    await turn.promise.finally(() => clearTimeout(timer));
  }

  #end(customer: string): void {
    const next = this.#waiting.get(customer)?.shift();
    if (next === undefined) this.#waiting.delete(customer);
    else next();
  }
}

function tooMany(): Problem {
  return new Problem("overloaded", {
    detail: "Too many changes to this customer are waiting. Nothing was changed. Try again shortly.",
    retryAfterSeconds: 1,
  });
}
