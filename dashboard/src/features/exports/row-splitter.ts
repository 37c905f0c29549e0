import type { ExportFormat } from "../../api/export-stream.ts";

const NEWLINE = 10;
const QUOTE = 34;

/**
 * Splits a byte stream into complete rows, so that an interrupted transfer can resume after the last complete row. In CSV, a line break
 * inside quotes does not end a row.
 */
export class RowSplitter {
  readonly #format: ExportFormat;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  /** True until the CSV header has been read. The header is not counted as a row. */
  #needsHeader: boolean;
  rows = 0;
  /** Cursor of the last complete row, if any. */
  cursor: string | undefined = undefined;

  constructor(format: ExportFormat) {
    this.#format = format;
    this.#needsHeader = format === "csv";
  }

  /** Returns the bytes of the rows that are complete now. */
  take(piece: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const bytes = joined(this.#rest, piece);
    let isQuoted = false;
    let [begin, end] = [0, 0];
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (byte === QUOTE && this.#format === "csv") isQuoted = !isQuoted;
      if (byte !== NEWLINE || isQuoted) continue;
      begin = end;
      end = index + 1;
      if (this.#needsHeader) this.#needsHeader = false;
      else this.rows += 1;
    }
    if (end > 0 && this.rows > 0) this.cursor = this.#cursorOf(bytes.subarray(begin, end));
    this.#rest = bytes.slice(end);
    return bytes.subarray(0, end);
  }

  /** Drops a partial row, which the service sends again on resume. */
  dropRest(): void {
    this.#rest = new Uint8Array();
  }

  #cursorOf(row: Uint8Array): string {
    const text = new TextDecoder().decode(row).trimEnd();
    return this.#format === "csv" ? text.slice(text.lastIndexOf(",") + 1) : JSON.parse(text).cursor;
  }
}

function joined(a: Uint8Array<ArrayBuffer>, b: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
