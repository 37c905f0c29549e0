export type AtOnceLimits = {
  /** Tasks of an owner that run at the same time. */
  readonly max: number;
  /** Tasks of an owner that may wait. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
};

type Places = { running: number; readonly waiting: (() => void)[] };

/** Limits how many tasks of each owner run at the same time, so that one owner leaves room for others. The rest wait in order. */
export class AtOnce {
  readonly #limits: AtOnceLimits;
  /** Only owners with running tasks. */
  readonly #places = new Map<number, Places>();

  constructor(limits: AtOnceLimits) {
    this.#limits = limits;
  }

  /** Null if too many tasks of the owner wait, or if this one waited too long. */
  async run<T>(owner: number, task: () => Promise<T>): Promise<T | null> {
    const places = this.#places.get(owner) ?? { running: 0, waiting: [] };
    this.#places.set(owner, places);
    if (places.running < this.#limits.max) places.running += 1;
    else if (!(await this.#awaitPlace(places))) return null;
    try {
      return await task();
    } finally {
      // A task that ends hands its place over, so the number of running tasks stays the same.
      const next = places.waiting.shift();
      if (next !== undefined) next();
      else {
        places.running -= 1;
        if (places.running === 0) this.#places.delete(owner);
      }
    }
  }

  async #awaitPlace({ waiting }: Places): Promise<boolean> {
    const { waitingMax, waitMsMax } = this.#limits;
    if (waiting.length >= waitingMax) return false;
    return new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        resolve(false);
      }, waitMsMax);
      waiting.push(start);
    });
  }
}
