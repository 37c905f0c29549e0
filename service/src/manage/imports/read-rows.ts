import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { BrokenFile } from "../../edge/csv-body.ts";
import { type FieldError, Problem } from "../../edge/problem.ts";
import { COLUMNS, type Column, type ImportRow, parseRow, type RowError } from "./import-row.ts";
import { type ImportedCustomer, joinRows } from "./imported-customer.ts";

/** Limits memory use, because all customer IDs in a file are kept in memory to find duplicates. */
export const ROWS_MAX = 200_000;
/** Limits the size of a transaction. A wallet has at most 50 open grants. */
const ROWS_PER_CUSTOMER_MAX = 100;
/** Accepts only commas and double quotes. If the format were guessed, a file could be misread. */
const STRICT = {
  record_delimiter: ["\r\n", "\n"],
  // `parseRow` reports rows with a different number of columns.
  relax_column_count: true,
  max_record_size: 16_384,
};

export type ReadRows =
  | { readonly kind: "customer"; readonly customer: ImportedCustomer }
  | { readonly kind: "bad_rows"; readonly rows: number; readonly errors: readonly RowError[] }
  /** Reading stops at this row, because the file cannot be parsed or has too many rows. */
  | { readonly kind: "broken"; readonly error: RowError };

/**
 * Streams the customers in a file, validated and checked for duplicates. An invalid header throws an error before anything is imported.
 * If the file is truncated, the last customer is skipped, because other rows of this customer may be missing.
 */
export async function* readRows(text: AsyncIterable<string>): AsyncGenerator<ReadRows> {
  const parser = parse(STRICT);
  // The error is ignored here, because the loop below receives it from the parser.
  pipeline(text, parser).catch(() => {});
  const records: AsyncIterable<readonly string[]> = parser;
  const seen = new Seen();
  let header: readonly Column[] | null = null;
  let group: Group | null = null;
  let row = 0;
  try {
    for await (const cells of records) {
      row += 1;
      if (header === null) {
        header = readHeader(cells);
        continue;
      }
      if (cells.length === 1 && cells[0] === "") continue;
      const id = cells[header.indexOf("customerId")] ?? "";
      if (group !== null && (id === "" || id !== group.id)) {
        yield finish(group, seen);
        group = null;
      }
      if (row > ROWS_MAX + 1) {
        const message = `A file can have at most ${ROWS_MAX} rows. Send the remaining rows in another file.`;
        yield { kind: "broken", error: { row, column: null, code: "too_large", message } };
        return;
      }
      group ??= { id, size: 0, rows: [], errors: [] };
      addRow(group, row, parseRow(row, header, cells));
    }
  } catch (error) {
    const broken = describeBreak(error, parser.info.records + 1);
    if (broken === null) throw error;
    if (header === null)
      throw invalidHeader([{ field: "header", code: broken.code, message: broken.message }]);
    yield { kind: "broken", error: broken };
    return;
  }
  if (header === null) {
    const message = `is missing: name the columns in the first row. Columns: ${COLUMNS.join(", ")}`;
    throw invalidHeader([{ field: "header", code: "required", message }]);
  }
  if (group !== null) yield finish(group, seen);
}

/** Consecutive rows with the same customer ID. */
type Group = { readonly id: string; size: number; readonly rows: ImportRow[]; readonly errors: RowError[] };

function addRow(group: Group, row: number, parsed: ImportRow | readonly RowError[]): void {
  group.size += 1;
  if (group.size === ROWS_PER_CUSTOMER_MAX + 1) {
    const message = `A customer can have at most ${ROWS_PER_CUSTOMER_MAX} rows in a file.`;
    group.errors.push({ row, column: null, code: "too_large", message });
  }
  if (group.size > ROWS_PER_CUSTOMER_MAX) return;
  if ("customerId" in parsed) group.rows.push(parsed);
  else group.errors.push(...parsed);
}

function finish({ size, rows: [first, ...others], errors }: Group, seen: Seen): ReadRows {
  if (first === undefined || errors.length > 0) return { kind: "bad_rows", rows: size, errors };
  const joined = joinRows([first, ...others]);
  const found = "customerId" in joined ? seen.findTwins(joined) : joined;
  if ("customerId" in joined && found.length === 0) return { kind: "customer", customer: joined };
  return { kind: "bad_rows", rows: size, errors: found };
}

function readHeader(cells: readonly string[]): readonly Column[] {
  refuseOtherSeparators(cells);
  const errors: FieldError[] = [];
  const header: Column[] = [];
  for (const cell of cells) {
    const column = COLUMNS.find((known) => known === cell);
    const field = cell.slice(0, 120);
    if (column === undefined) {
      const message = `is not a known column. Columns: ${COLUMNS.join(", ")}`;
      errors.push({ field, code: "unknown_column", message });
    } else if (header.includes(column)) {
      errors.push({ field, code: "duplicate", message: "appears twice in the header" });
    } else header.push(column);
  }
  if (!header.includes("customerId"))
    errors.push({ field: "customerId", code: "required", message: "is required in the header" });
  if (errors.length > 0) throw invalidHeader(errors);
  return header;
}

/** Rejects files separated by semicolons or tabs. In many countries, spreadsheets export files with semicolons. */
function refuseOtherSeparators(cells: readonly string[]): void {
  const [first = ""] = cells;
  if (cells.length !== 1 || COLUMNS.some((known) => known === first)) return;
  const separator = [";", "\t"].find((other) => first.includes(other));
  if (separator === undefined) return;
  const name = separator === ";" ? "semicolons" : "tabs";
  const message = `separates columns with ${name}. Save the file with commas`;
  throw invalidHeader([{ field: first.slice(0, 120), code: "unknown_column", message }]);
}

function invalidHeader(errors: readonly FieldError[]): Problem {
  const [first] = errors;
  const detail = `Row 1: \`${first?.field}\` ${first?.message}.`;
  return new Problem("invalid_request", { detail, errors: errors.slice(0, 10) });
}

/** Describes an encoding or CSV error. Null for any other error. */
function describeBreak(error: unknown, row: number): RowError | null {
  if (error instanceof BrokenFile) return { row, column: null, code: error.code, message: error.message };
  if (!(error instanceof CsvError)) return null;
  return { row, column: null, code: "not_csv", message: `cannot be read as CSV: ${error.message}` };
}

/** Finds customers and references that appear twice in a file. */
class Seen {
  readonly #customers = new Map<string, number>();
  readonly #references = new Map<string, number>();

  findTwins({ row: firstRow, customerId, credits }: ImportedCustomer): readonly RowError[] {
    const errors: RowError[] = [];
    const note = (
      rows: Map<string, number>,
      { row, column, value, advice }: { row: number; column: Column; value: string; advice: string },
    ): void => {
      const first = rows.get(value);
      if (first === undefined) rows.set(value, row);
      else errors.push({ row, column, code: "duplicate", message: `is already in row ${first}${advice}` });
    };
    const advice = ": put a customer's rows together";
    note(this.#customers, { row: firstRow, column: "customerId", value: customerId, advice });
    for (const { row, reference } of credits)
      if (reference !== null)
        note(this.#references, { row, column: "reference", value: reference, advice: "" });
    return errors;
  }
}
