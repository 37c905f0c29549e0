import { isTooLong } from "./sql-error.ts";

/** Maximum rows that one statement of a job or verification reads or writes: about half a second of work. */
export const ROWS_MAX = 20_000;

type Limits = {
  readonly first: number;
  /** Sizes are multiples of this number. */
  readonly least?: number;
  readonly most: number;
  /** The factor by which the size grows. */
  readonly growth: number;
};

/**
 * An adaptive batch size. The size is halved after a timeout or too many rows, and increased after few rows. With a fixed size,
 * work that times out once would time out at every attempt.
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

  /** Runs `work` once. A timeout throws and halves the size for the next attempt. */
  async attempt<T>(work: (size: number) => Promise<T>): Promise<T> {
    try {
      return await work(this.#size);
    } catch (error) {
      if (isTooLong(error)) this.#halve();
      throw error;
    }
  }

  /** Runs `work`, and retries after each timeout with half the size, down to the smallest. */
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

  /** Call after a success. `load` is the work done relative to the target. From 0.5 to 1, the size stays the same. */
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
