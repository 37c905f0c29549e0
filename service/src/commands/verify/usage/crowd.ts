import { isTooLong } from "../../../postgres/sql-error.ts";
import { QUARTER_MS } from "../../../store/cell/usage/extent.ts";
import { SLICES_MAX } from "../../../store/cell/usage/rows.ts";
import { ALL_CUSTOMERS, type SomeCustomers } from "../../../store/cell/usage/time-slice.ts";
import { ROWS_MAX } from "./stride.ts";

/**
 * For a quarter of an hour in which so much was used that no statement gets through all of it: the customers in slices, as many
 * as it takes. Remembers how many that were, as the next quarter is like the last.
 */
export class Crowd {
  #slices = 1;

  /** Over some quarters all customers at once, as a stretch that is too long is made shorter; over one of them as it can. */
  over(
    from: number,
    to: number,
    work: (some: SomeCustomers) => Promise<number | null>,
  ): Promise<number | null> {
    return to - from > QUARTER_MS ? work(ALL_CUSTOMERS) : this.walk(work);
  }

  /** One slice after the other. `work` returns how many rows it took in, or null to end here. */
  async walk(work: (some: SomeCustomers) => Promise<number | null>): Promise<number | null> {
    let rows = 0;
    for (let slice = 0; slice < this.#slices; ) {
      try {
        const more = await work({ slices: this.#slices, slice });
        if (more === null) return null;
        rows += more;
        slice += 1;
      } catch (error) {
        if (!isTooLong(error) || this.#slices === SLICES_MAX) throw error;
        this.#slices *= 2;
        slice *= 2;
      }
    }
    // One that was cut off for what the server did besides is not paid for ever after.
    if (rows < (ROWS_MAX * this.#slices) / 2) this.#slices = Math.max(1, this.#slices / 2);
    return rows;
  }
}
