import { isTooLong } from "./sql-error.ts";

/** Rows that one statement of a job or a check reads or writes: about half a second's work. */
export const ROWS_MAX = 20_000;

type Limits = {
  readonly first: number;
  /** Sizes are whole multiples of it. */
  readonly least?: number;
  readonly most: number;
  /** What a size is multiplied by to become larger. */
  readonly growth: number;
};

/**
 * How much one statement takes at once: half as much after a timeout or too many rows, more again after few. What is too much
 * now would be too much at the next attempt, and so on forever.
 */
export class BatchSize {
  readonly #least: number;
  readonly #most: number;
  readonly #growth: number;
  #size: number;

  constructor({ first, least = 1, most, growth }: Limits) {
    this.#size = first;
    this.#least = least;
    this.#most = most;
    this.#growth = growth;
  }

  get size(): number {
    return this.#size;
  }

  /** Fails after a timeout, too; the next attempt takes less. */
  async attempt<T>(work: (size: number) => Promise<T>): Promise<T> {
    try {
      return await work(this.#size);
    } catch (error) {
      if (isTooLong(error)) this.#halve();
      throw error;
    }
  }

  /** Attempts it again after a timeout, down to the least size. */
  async fit<T>(work: (size: number) => Promise<T>): Promise<T> {
    for (;;) {
      const isLeast = this.#size === this.#least;
      try {
        return await this.attempt(work);
      } catch (error) {
        if (isLeast || !isTooLong(error)) throw error;
      }
    }
  }

  /** After a success: `load` is 1 where that was as much as one statement should take. */
  adjust(load: number): void {
    if (load > 1) this.#halve();
    else if (load < 0.5)
      this.#size = Math.min(this.#most, this.#multiple(Math.ceil, this.#size * this.#growth));
  }

  #halve(): void {
    this.#size = Math.max(this.#least, this.#multiple(Math.floor, this.#size / 2));
  }

  #multiple(round: (value: number) => number, size: number): number {
    return round(size / this.#least) * this.#least;
  }
}
