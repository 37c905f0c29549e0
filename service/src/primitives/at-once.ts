export type AtOnceLimits = {
  /** Tasks of an owner that run at the same time. */
  readonly max: number;
  /** Tasks of an owner that may wait. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** Thrown if too many tasks of the owner wait, or if one has waited too long. */
  readonly refusal: () => unknown;
};

type Places = { running: number; readonly waiting: (() => void)[] };

/** Limits how many tasks of each owner run at the same time, so that one owner leaves room for others. The rest wait in order. */
export class AtOnce<Owner> {
  readonly #limits: AtOnceLimits;
  /** Only owners with running tasks. */
  readonly #places = new Map<Owner, Places>();

  constructor(limits: AtOnceLimits) {
    this.#limits = limits;
  }

  async run<T>(owner: Owner, task: () => Promise<T>): Promise<T> {
    const places = this.#places.get(owner) ?? { running: 0, waiting: [] };
    this.#places.set(owner, places);
    if (places.running < this.#limits.max) places.running += 1;
    else await this.#awaitPlace(places);
    try {
      return await task();
    } finally {
      // A task that ends passes its place on to the next one, so the number of running tasks does not change.
      const next = places.waiting.shift();
      if (next !== undefined) next();
      else {
        places.running -= 1;
        if (places.running === 0) this.#places.delete(owner);
      }
    }
  }

  #awaitPlace({ waiting }: Places): Promise<void> {
    const { waitingMax, waitMsMax, refusal } = this.#limits;
    return new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax) return reject(refusal());
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(refusal());
      }, waitMsMax);
      waiting.push(start);
    });
  }
}
