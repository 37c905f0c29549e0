import { isTooLong } from "./sql-error.ts";

/** Rows that one statement in a job or check reads or writes: about half a second of work. */
export const ROWS_MAX = 20_000;

type Limits = {
  readonly first: number;
  /** Sizes are multiples of this number. */
  readonly least?: number;
  readonly most: number;
  /** Factor by which a size grows. */
  readonly growth: number;
};

/**
 * An adaptive batch size: halved after a timeout or too many rows, increased after few. Without it, a batch that times out
 * would time out at every attempt.
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

  /** Throws after a timeout; the next attempt takes less. */
  async attempt<T>(work: (size: number) => Promise<T>): Promise<T> {
    try {
      return await work(this.#size);
    } catch (error) {
      if (isTooLong(error)) this.#halve();
      throw error;
    }
  }

  /** Retries after a timeout, down to the smallest size. */
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

  /** After a success: `load` is 1 if the statement did as much work as it should. */
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
