import { Problem } from "../edge/problem.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { transaction } from "../postgres/transaction.ts";
import type { CustomerId } from "../primitives/brand.ts";
import type { Context } from "./context.ts";

/** Who waits longer than that is told to try again: long before a caller gives up. */
const WAIT_MS_MAX = 8_000;
const WAITING_MAX = 100;

/**
 * A transaction on one customer's wallet. In one process they take turns by customer before they take a connection: twenty
 * at once would otherwise hold every connection of the pool, each waiting for the same lock, and time out one another and
 * everybody else. Across processes the wallet's lock decides.
 */
export function walletTransaction<T>(
  cell: Pool,
  { environmentId }: Context,
  customerId: CustomerId,
  work: (tx: Tx) => Promise<T>,
  isKept?: (result: T) => boolean,
): Promise<T> {
  const turns = TURNS.get(cell) ?? new CustomerTurns();
  TURNS.set(cell, turns);
  return turns.take(`${environmentId} ${customerId}`, () => transaction(cell, work, isKept));
}

/** Of a process, by the pool whose connections they save. */
const TURNS = new WeakMap<Pool, CustomerTurns>();

class CustomerTurns {
  /** By customer with an operation under way, those that wait for it, in order of arrival. */
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
    detail: "Too many changes of this customer wait already. Nothing was changed. Try again shortly.",
    retryAfterSeconds: 1,
  });
}
