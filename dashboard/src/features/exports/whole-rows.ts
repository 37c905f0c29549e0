import type { ExportFormat } from "../../api/export-stream.ts";

const NEWLINE = 10;
const QUOTE = 34;

/**
 * Takes an export as it comes, in pieces cut anywhere, and keeps whole rows alone: so that a transfer that was cut off goes
 * on after the last of them. A line break within quotes ends no row of CSV.
 */
export class WholeRows {
  readonly #format: ExportFormat;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  /** The header of a CSV is no row. */
  #needsHeader: boolean;
  rows = 0;
  /** Of the last whole row; undefined: there is none. */
  cursor: string | undefined = undefined;

  constructor(format: ExportFormat) {
    this.#format = format;
    this.#needsHeader = format === "csv";
  }

  /** What of it is whole now. */
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

  /** Half a row comes again. */
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
