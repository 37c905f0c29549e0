import { decodeCursor, encodeCursor } from "../page.ts";

/** The row id to continue after. Null: the first page. */
export function readIdCursor(cursor: string | undefined): number | null {
  const [id = null] = decodeCursor(cursor, ["number"]) ?? [];
  return id;
}

/** Expects one row more than `limit`, if there are more. */
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
