/** An id of a row as callers write it. Null: no row can have it, so there is none. */
export function readRowId(text: string): number | null {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
