import type { Tx } from "./statement.ts";

/**
 * Thrown by work that needs something which it must not wait for while it holds locks. Whoever runs the work lets go of
 * everything, fetches, and runs it again.
 */
export abstract class Lacking extends Error {
  override readonly name = "Lacking";
  /** What is fetched, so that it is fetched once for all who lack it at a time. */
  abstract readonly what: string;
  abstract fetch(tx: Tx): Promise<void>;
}
