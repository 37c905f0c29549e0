import { rmSync } from "node:fs";
import { isGone, killTree, listChildren } from "./process-tree.ts";

const GONE_LOOKS_MAX = 400;
const LOOK_PAUSE_MS = 5;

/**
 * Sees to it that nothing of this program outlives it: every process it started, whatever it is at (initdb, too), and
 * its files. All of it is synchronous, so that it also runs on the way out after a signal or a failure.
 */
export class CleanUp {
  readonly #paths = new Set<string>();

  constructor() {
    process.once("exit", () => this.run());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => process.exit(130));
    }
  }

  /** A file or a directory. */
  addPath(path: string): void {
    this.#paths.add(path);
  }

  keepPath(path: string): void {
    this.#paths.delete(path);
  }

  run(): void {
    const pids = listChildren(process.pid).flatMap(killTree);
    for (let look = 0; look < GONE_LOOKS_MAX && !pids.every(isGone); look++) sleep(LOOK_PAUSE_MS);
    for (const path of this.#paths) {
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
