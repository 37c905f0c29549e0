import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { BoundedMap } from "../primitives/bounded-map.ts";
import { networkOf } from "../primitives/network.ts";
import { addressOf, type CameFrom } from "./guard.ts";

/** So many refusals a network gets at once, and so many a second for good, before it has to wait for each. */
const BURST = 200;
const PER_SECOND = 50;
const HOLD_MS = 1_000;
/** Each of them keeps a request in memory. */
const HELD_MAX = 4_096;
const NETWORKS_MAX = 10_000;

type Caller = Pick<FastifyRequest, "apiKey" | "principal"> & CameFrom;
type Budget = { refusals: number; filledAtMs: number };

/**
 * Holds back the refusals of a network that gets very many of them while nobody knows who is calling: wrong keys, malformed
 * bodies, unknown paths. Whoever waits for an answer before the next attempt can then not keep the process busy. A caller with
 * a valid credential is never held back, wherever they call from.
 */
export class StrangerBrake {
  readonly #budgets = new BoundedMap<string, Budget>(NETWORKS_MAX);
  readonly #waiting = new WeakSet<Socket>();
  #held = 0;

  /** Ends when the refusal may be sent. */
  async hold(caller: Caller, nowMs: number): Promise<void> {
    if (caller.apiKey !== null || caller.principal !== null) return;
    if (this.#spend(networkOf(addressOf(caller)), nowMs)) return;
    const { socket } = caller.raw;
    // Only who does not wait for answers has two of them held on one connection.
    if (this.#held >= HELD_MAX || this.#waiting.has(socket)) {
      socket.destroy();
      return;
    }
    this.#held += 1;
    this.#waiting.add(socket);
    // Up to twice as long: those that were held together must not all come back in one moment.
    await pause(HOLD_MS * (1 + Math.random()));
    this.#held -= 1;
    this.#waiting.delete(socket);
  }

  #spend(network: string, nowMs: number): boolean {
    const budget = this.#budgets.find(network) ?? { refusals: BURST, filledAtMs: nowMs };
    const refilled = ((nowMs - budget.filledAtMs) / 1_000) * PER_SECOND;
    budget.refusals = Math.min(BURST, budget.refusals + refilled);
    budget.filledAtMs = nowMs;
    this.#budgets.set(network, budget);
    if (budget.refusals < 1) return false;
    budget.refusals -= 1;
    return true;
  }
}
