/** Parses a row id from a path. Null: no row can have it. */
export function readRowId(text: string): number | null {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
