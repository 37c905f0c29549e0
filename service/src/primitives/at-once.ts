/** Runs a limited number of tasks at once. Others wait in order, up to a limit. */
export class AtOnce {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ max, waitingMax }: { readonly max: number; readonly waitingMax: number }) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Null if too many wait already. */
  async run<T>(task: () => Promise<T>): Promise<T | null> {
    if (this.#running >= this.#max) {
      if (this.#waiting.length >= this.#waitingMax) return null;
      // The task that ends hands its place over, so the number of running tasks stays the same.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
