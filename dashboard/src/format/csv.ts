/** A CSV file of these rows, with CRLF line endings as RFC 4180 requires. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

type Cell = string | number | boolean | null;

/**
 * Spreadsheets run cells that start with these characters, including full-width forms, as formulas. Those that split at semicolons or tabs
 * ignore quotes, so a formula can also start after a semicolon or tab.
 */
const FORMULA = /(?<=^|[;\t\r\n]"*)(?=[=+\-@\t\r\n＝＋－＠])/g;

/** Quotes text if needed, and puts an apostrophe before formulas. Null is an empty cell. */
function cellOf(value: Cell): string {
  if (typeof value !== "string") return String(value ?? "");
  const safe = value.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
