import type { Tx } from "./statement.ts";

/**
 * Thrown by work that needs more data, but must not load it while holding locks. The caller rolls back, calls `fetch`, and runs
 * the work again.
 */
export abstract class MissingData extends Error {
  override readonly name = "MissingData";
  /** Identifies the data, so that concurrent requests load it once. */
  abstract readonly what: string;
  abstract fetch(tx: Tx): Promise<void>;
}
