import { BatchSize, ROWS_MAX } from "../../../postgres/batch-size.ts";
import { BUCKET_MS } from "../../../store/cell/usage/extent.ts";
import { SLICES_MAX } from "../../../store/cell/usage/rows.ts";
import { ALL_CUSTOMERS, type SomeCustomers } from "../../../store/cell/usage/time-slice.ts";

export type Ground = {
  readonly from: number;
  readonly to: number;
  /** The width of each step is a multiple of `least`. */
  readonly width: { readonly first: number; readonly least: number; readonly most: number };
};

/** Processes a range in steps, which are wider where there are fewer rows. `work` returns the number of rows read, or null to stop. */
export async function stride(
  { from, to, width }: Ground,
  work: (from: number, to: number) => Promise<number | null>,
): Promise<void> {
  const step = new BatchSize({ ...width, growth: 2 });
  for (let at = from; at < to; ) {
    const rows = await step.fit((size) => work(at, Math.min(at + size, to)));
    if (rows === null) return;
    at += step.size;
    step.adjust(rows / ROWS_MAX);
  }
}

/**
 * Splits the customers of a bucket or day into slices if one statement cannot read all of its usage. A bucket starts with as many
 * slices as the previous bucket ended with.
 */
export class Crowd {
  /** The size of a slice. All customers together have size `SLICES_MAX`. */
  readonly #share = new BatchSize({ first: SLICES_MAX, most: SLICES_MAX, growth: 2 });

  /**
   * Reads a single bucket in slices, and several buckets for all customers at once. If several buckets time out, `stride` reads
   * fewer buckets.
   */
  over(
    from: number,
    to: number,
    work: (some: SomeCustomers) => Promise<number | null>,
  ): Promise<number | null> {
    return to - from > BUCKET_MS ? work(ALL_CUSTOMERS) : this.walk(work);
  }

  /** Runs `work` for each slice in order. `work` returns the number of rows read, or null to stop. */
  async walk(work: (some: SomeCustomers) => Promise<number | null>): Promise<number | null> {
    let rows = 0;
    for (let at = 0; at < SLICES_MAX; at += this.#share.size) {
      const more = await this.#share.fit((size) => work({ slices: SLICES_MAX / size, slice: at / size }));
      if (more === null) return null;
      rows += more;
    }
    // Adjusts the size only at the end, because a larger slice might not start where the previous slice ended.
    this.#share.adjust(Math.min(1, (rows * this.#share.size) / SLICES_MAX / ROWS_MAX));
    return rows;
  }
}
