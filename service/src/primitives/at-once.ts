export type AtOnceLimits = {
  /** Maximum concurrent tasks per owner. */
  readonly max: number;
  /** Maximum waiting tasks per owner. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** Returns the error for a task that finds the queue full or waits too long. */
  readonly refusal: () => unknown;
};

type Places = { running: number; readonly waiting: (() => void)[] };

/** Limits the concurrent tasks of each owner, so that one owner cannot block others. Further tasks wait in order. */
export class AtOnce<Owner> {
  readonly #limits: AtOnceLimits;
  /** The tasks of each owner. Contains only owners with running tasks. */
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
      // The next waiting task replaces the ended one, so the number of running tasks does not change.
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
