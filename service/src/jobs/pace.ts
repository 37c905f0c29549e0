import { isTooLong } from "../postgres/sql-error.ts";

/**
 * How much to take at once: half as much after a statement that was cut off for its length, slowly more again after others that
 * did something. What is too much now would be too much at the next turn, and for ever; and where another process was at work
 * nothing was learned.
 */
export class Pace {
  readonly #sizeMax: number;
  #size: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
    this.#size = sizeMax;
  }

  async keep<T>(work: (size: number) => Promise<T>, didSomething: (result: T) => boolean): Promise<T> {
    try {
      const result = await work(this.#size);
      if (didSomething(result)) this.#size = Math.min(this.#sizeMax, Math.ceil((this.#size * 9) / 8));
      return result;
    } catch (error) {
      if (isTooLong(error)) this.#size = Math.max(1, Math.floor(this.#size / 2));
      throw error;
    }
  }
}
