import { type Cell, type Column, CURSOR } from "./column.ts";

/** Of what is handed to the socket at once; a line that is longer goes alone. */
const CHUNK_BYTES = 64 * 1_024;

export const FORMATS = ["csv", "ndjson"] as const;
export type Format = (typeof FORMATS)[number];

export function mediaType(format: Format, hasHeader: boolean): string {
  if (format === "ndjson") return "application/x-ndjson; charset=utf-8";
  return `text/csv; charset=utf-8; header=${hasHeader ? "present" : "absent"}`;
}

export type Line<Row> = { readonly row: Row; readonly cursor: string };

/** What stands above the rows. A file that is continued has it already. */
export function formatHeader(format: Format, columns: readonly { readonly name: string }[]): string {
  return format === "ndjson" ? "" : `${[...columns.map(({ name }) => name), CURSOR].join(",")}\n`;
}

/**
 * Bytes right away, line by line: text that is put together for a whole page outlives the collections of garbage meanwhile,
 * and the process grows by it.
 */
export function* formatLines<Row>(
  format: Format,
  columns: readonly Column<Row>[],
  lines: Iterable<Line<Row>>,
): Generator<Buffer> {
  const write = format === "csv" ? csvLine : jsonLine;
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let length = 0;
  for (const line of lines) {
    const text = write(columns, line);
    // No character takes more than three bytes for each of its units.
    const isCertain = text.length * 3 <= CHUNK_BYTES - length;
    if (!isCertain && Buffer.byteLength(text) > CHUNK_BYTES - length) {
      if (length > 0) yield chunk.subarray(0, length);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, Buffer.byteLength(text)));
      length = 0;
    }
    length += chunk.write(text, length);
  }
  if (length > 0) yield chunk.subarray(0, length);
}

function csvLine<Row>(columns: readonly Column<Row>[], { row, cursor }: Line<Row>): string {
  let text = "";
  for (const { of } of columns) text += `${toCsv(of(row))},`;
  return `${text}${cursor}\n`;
}

function jsonLine<Row>(columns: readonly Column<Row>[], { row, cursor }: Line<Row>): string {
  let text = "{";
  for (const { name, of } of columns) text += `"${name}":${toJson(of(row))},`;
  return `${text}"${CURSOR}":"${cursor}"}\n`;
}

function toJson(cell: Cell): string {
  return cell !== null && typeof cell === "object" ? cell.json : JSON.stringify(cell);
}

/**
 * With these, also as wide as an ideograph, a spreadsheet takes a cell for a formula, and runs it. Where a comma is part of a
 * number it cuts at a semicolon or a tab instead, and takes no quotation mark behind a comma for one: so a cell may begin there, quoted or not.
 */
const FORMULA = /(?<=^|[;\t\r\n]"*)(?=[=+\-@\t\r\n＝＋－＠])/g;

/** Numbers stay numbers, also those below zero. RFC 4180: a quote is doubled, and what has one, a comma or a line's end is quoted. */
function toCsv(cell: Cell): string | number {
  if (cell === null) return "";
  if (typeof cell === "number") return cell;
  const text = typeof cell === "object" ? cell.json : cell;
  const safe = text.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
