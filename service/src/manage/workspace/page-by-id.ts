import { decodeCursor, encodeCursor } from "../page.ts";

/** Where a list that goes by a row's number goes on; null at its beginning. */
export function readIdCursor(cursor: string | undefined): number | null {
  const [id = null] = decodeCursor(cursor, ["number"]) ?? [];
  return id;
}

/** A page of rows of which one more than `limit` was read, to see whether the list goes on. */
export function pageById<T extends { readonly id: number }, I>(
  rows: readonly T[],
  limit: number,
  describe: (row: T) => I,
): { items: I[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(describe),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor([last.id]) : null,
  };
}
