/** A CSV file of these rows, with CRLF line endings as RFC 4180 requires. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

type Cell = string | number | boolean | null;

/** Quotes text if needed, and prefixes formulas with an apostrophe. Null is an empty cell. */
function cellOf(value: Cell): string {
  if (typeof value !== "string") return String(value ?? "");
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
