import { isTooLong } from "../../../postgres/sql-error.ts";

/** Rows that one statement reads, about. */
export const ROWS_MAX = 20_000;

export type Ground = {
  readonly from: number;
  readonly to: number;
  /** How much to take at first, at least and at most: whole multiples of the least. */
  readonly width: { readonly first: number; readonly least: number; readonly most: number };
};

/**
 * Goes from one number to another in steps that are as wide as they may be: half as wide after one with many rows, and again
 * where a statement was cut off for its length; twice as wide after one with few. `work` returns how many rows it read, or null to
 * end the walk.
 */
export async function stride(
  { from, to, width: { first, least, most } }: Ground,
  work: (from: number, to: number) => Promise<number | null>,
): Promise<void> {
  let width = first;
  const halve = (): void => {
    width = Math.max(least, Math.floor(width / 2 / least) * least);
  };
  for (let at = from; at < to; ) {
    const end = Math.min(at + width, to);
    try {
      const rows = await work(at, end);
      if (rows === null) return;
      at = end;
      if (rows > ROWS_MAX) halve();
      else if (rows < ROWS_MAX / 2) width = Math.min(width * 2, most);
    } catch (error) {
      if (!isTooLong(error) || width === least) throw error;
      halve();
    }
  }
}
