/** Parses a row ID from a path. Null if the text cannot be a row ID. */
export function readRowId(text: string): number | null {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
