import { BatchSize, ROWS_MAX } from "../../../postgres/batch-size.ts";
import { BUCKET_MS } from "../../../store/cell/usage/extent.ts";
import { SLICES_MAX } from "../../../store/cell/usage/rows.ts";
import { ALL_CUSTOMERS, type SomeCustomers } from "../../../store/cell/usage/time-slice.ts";

export type Ground = {
  readonly from: number;
  readonly to: number;
  /** How much to take at first, at least and at most: whole multiples of the least. */
  readonly width: { readonly first: number; readonly least: number; readonly most: number };
};

/**
 * Goes from one number to another in steps that are as wide as their rows allow. `work` returns how many rows it read, or null to
 * end here.
 */
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
 * For a quarter of an hour with too much usage for one statement: the customers in slices, as many as it takes. The number of
 * slices is kept for the next quarter of an hour, which is like the last.
 */
export class Crowd {
  /** The size of a slice, of `SLICES_MAX` in all. */
  readonly #share = new BatchSize({ first: SLICES_MAX, most: SLICES_MAX, growth: 2 });

  /** Over some quarters all customers at once, because `stride` makes those fewer; over one quarter in slices. */
  over(
    from: number,
    to: number,
    work: (some: SomeCustomers) => Promise<number | null>,
  ): Promise<number | null> {
    return to - from > BUCKET_MS ? work(ALL_CUSTOMERS) : this.walk(work);
  }

  /** One slice after the other. `work` returns how many rows it read, or null to end here. */
  async walk(work: (some: SomeCustomers) => Promise<number | null>): Promise<number | null> {
    let rows = 0;
    for (let at = 0; at < SLICES_MAX; at += this.#share.size) {
      const more = await this.#share.fit((size) => work({ slices: SLICES_MAX / size, slice: at / size }));
      if (more === null) return null;
      rows += more;
    }
    // Not earlier: a wider slice would not start where the last one ended.
    this.#share.adjust(Math.min(1, (rows * this.#share.size) / SLICES_MAX / ROWS_MAX));
    return rows;
  }
}
