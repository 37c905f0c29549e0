import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { BoundedMap } from "../primitives/bounded-map.ts";
import { networkOf } from "../primitives/network.ts";
import { addressOf, type CameFrom } from "./guard.ts";

/** Refusals a network gets without delay: a burst, and then a rate. */
const BURST = 200;
const PER_SECOND = 50;
const HOLD_MS = 1_000;
/** Bounds memory: each held refusal keeps a request. */
const HELD_MAX = 4_096;
const NETWORKS_MAX = 10_000;

type Caller = Pick<FastifyRequest, "apiKey" | "principal"> & CameFrom;
type Budget = { refusals: number; filledAtMs: number };

/**
 * Delays refusals of unauthenticated callers (wrong keys, malformed bodies, unknown paths) from a network that gets many of
 * them, so that it cannot keep the process busy. Callers with a valid credential are never delayed.
 */
export class StrangerBrake {
  readonly #budgets = new BoundedMap<string, Budget>(NETWORKS_MAX);
  readonly #waiting = new WeakSet<Socket>();
  #held = 0;

  /** Resolves when the refusal may be sent. */
  async hold(caller: Caller, nowMs: number): Promise<void> {
    if (caller.apiKey !== null || caller.principal !== null) return;
    if (this.#spend(networkOf(addressOf(caller)), nowMs)) return;
    const { socket } = caller.raw;
    // Two held refusals on one connection: the caller does not wait for answers.
    if (this.#held >= HELD_MAX || this.#waiting.has(socket)) {
      socket.destroy();
      return;
    }
    this.#held += 1;
    this.#waiting.add(socket);
    // With jitter, so that callers held together do not all return at once.
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
