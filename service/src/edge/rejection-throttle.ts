import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { networkOf } from "../primitives/network.ts";
import { addressOf, type CameFrom } from "./guard.ts";
import { TokenBuckets } from "./token-bucket.ts";

/** Rejections that a network gets without delay: an initial burst, then a steady rate. */
const REFUSALS = { size: 200, perSecond: 50 } as const;
const HOLD_MS = 1_000;
/** Maximum number of delayed rejections. Bounds memory, because each delayed rejection keeps its request. */
const HELD_MAX = 4_096;
const NETWORKS_MAX = 10_000;

type Caller = Pick<FastifyRequest, "apiKey" | "principal"> & CameFrom;

/**
 * If a network gets many rejections, delays the rejections of its unauthenticated callers (wrong keys, malformed bodies, unknown paths), so
 * that the network cannot keep the process busy. Callers with a valid credential are never delayed.
 */
export class RejectionThrottle {
  readonly #buckets = new TokenBuckets<string>(NETWORKS_MAX);
  readonly #waiting = new WeakSet<Socket>();
  #held = 0;

  /** Resolves when the rejection may be sent. */
  async hold(caller: Caller, nowMs: number): Promise<void> {
    if (caller.apiKey !== null || caller.principal !== null) return;
    if (this.#buckets.take(networkOf(addressOf(caller)), REFUSALS, nowMs) !== null) return;
    const { socket } = caller.raw;
    // A second delayed response on the same connection means that the client does not wait for responses.
    if (this.#held >= HELD_MAX || this.#waiting.has(socket)) {
      socket.destroy();
      return;
    }
    this.#held += 1;
    this.#waiting.add(socket);
    // With jitter, so that callers delayed together do not all retry at once.
    await pause(HOLD_MS * (1 + Math.random()));
    this.#held -= 1;
    this.#waiting.delete(socket);
  }
}
