import { stringify } from "csv-stringify/sync";
import { type Cell, type Column, CURSOR } from "./column.ts";

export const FORMATS = ["csv", "ndjson"] as const;
export type Format = (typeof FORMATS)[number];

export const MEDIA_TYPE = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
} as const satisfies Record<Format, string>;

export type Line<Row> = { readonly row: Row; readonly cursor: string };

/** What stands above the rows. A file that is continued has it already. */
export function formatHeader(format: Format, columns: readonly { readonly name: string }[]): string {
  return format === "ndjson" ? "" : stringify([[...columns.map(({ name }) => name), CURSOR]]);
}

export function formatLines<Row>(
  format: Format,
  columns: readonly Column<Row>[],
  lines: readonly Line<Row>[],
): string {
  if (format === "csv")
    return stringify(lines.map(({ row, cursor }) => [...columns.map(({ of }) => toCsv(of(row))), cursor]));
  let text = "";
  for (const { row, cursor } of lines) {
    const fields = columns.map(({ name, of }) => `${JSON.stringify(name)}:${toJson(of(row))}`);
    text += `{${fields.join(",")},"${CURSOR}":"${cursor}"}\n`;
  }
  return text;
}

function toJson(cell: Cell): string {
  return cell !== null && typeof cell === "object" ? cell.json : JSON.stringify(cell);
}

/** With these, also as wide as an ideograph, a spreadsheet takes a cell for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Numbers stay numbers, also those below zero. */
function toCsv(cell: Cell): string | number | null {
  if (cell === null || typeof cell === "number") return cell;
  const text = typeof cell === "object" ? cell.json : cell;
  return FORMULA.test(text) ? `'${text}` : text;
}
