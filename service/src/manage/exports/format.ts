import { type Cell, type Column, CURSOR } from "./source.ts";

/** Bytes per write to the socket. A longer line gets a separate write. */
const CHUNK_BYTES = 64 * 1_024;

export const FORMATS = ["csv", "ndjson"] as const;
export type Format = (typeof FORMATS)[number];

export function mediaType(format: Format, hasHeader: boolean): string {
  if (format === "ndjson") return "application/x-ndjson; charset=utf-8";
  return `text/csv; charset=utf-8; header=${hasHeader ? "present" : "absent"}`;
}

export type Line<Row> = { readonly row: Row; readonly cursor: string };

/** The CSV header line. Empty for NDJSON. A resumed export does not write the header again. */
export function formatHeader(format: Format, columns: readonly { readonly name: string }[]): string {
  return format === "ndjson" ? "" : `${[...columns.map(({ name }) => name), CURSOR].join(",")}\n`;
}

/** Encodes line by line. The text of a whole page would survive garbage collections and increase memory use. */
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
    // UTF-8 takes at most three bytes per UTF-16 unit.
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
 * Spreadsheets run cells that start with these characters, including full-width forms, as formulas. In locales with a decimal comma,
 * spreadsheets split at semicolons or tabs and ignore quotes, so a formula can also start after a semicolon or tab.
 */
const FORMULA = /(?<=^|[;\t\r\n]"*)(?=[=+\-@\t\r\n＝＋－＠])/g;

/**
 * Formats a cell. Negative numbers stay numbers. RFC 4180: quotes are doubled, and cells with quotes, commas or line breaks are
 * quoted.
 */
function toCsv(cell: Cell): string | number {
  if (cell === null) return "";
  if (typeof cell === "number") return cell;
  const text = typeof cell === "object" ? cell.json : cell;
  const safe = text.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
