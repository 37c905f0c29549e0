import type { Pool } from "../../postgres/pool.ts";
import type { Instant, ProjectId } from "../../primitives/brand.ts";
import type { ExportKind, ExportRange } from "../../store/cell/export-range.ts";

/** The value of one column in an exported row. JSON values are nested objects in NDJSON and strings in CSV. */
export type Cell = string | number | null | { readonly json: string };

/** A column of an export, with the same name in CSV and NDJSON. */
export type Column<Row> = {
  readonly name: string;
  readonly about: string;
  readonly of: (row: Row) => Cell;
};

/** Name of the last column of each row. An export can resume after any complete row. */
export const CURSOR = "cursor";

export function describeColumns(columns: readonly Column<never>[]): string {
  const lines = columns.map(({ name, about }) => `- \`${name}\`: ${about}`);
  return [...lines, `- \`${CURSOR}\`: cursor for resuming the export after this row.`].join("\n");
}

/** The rows that an export selects, and the database that holds them. */
export type ExportJob = ExportRange & Moment & { readonly cell: Pool; readonly projectId: ProjectId };

/** When an export started, and which rows existed then. */
export type Moment = Pick<ExportRange, "asOf" | "settled"> & {
  /** Start of the history window when the export started. Null if there is no history window. */
  readonly windowStart: Instant | null;
  /** Hash of the request. A cursor is valid only for the same request. */
  readonly about: string;
};

/** The two values by which rows are sorted. */
export type Position = readonly [number, string | number];

/** The state at the start of an interrupted export, and the row after which it resumes. */
export type Resume = Moment & { readonly after: Position };

export type Positioned<Row> = { readonly row: Row; readonly position: Position };

/** Rows of one kind in an order that never changes, so that an export can resume after any of them. */
export type Source<Row> = {
  readonly kind: ExportKind;
  readonly about: string;
  readonly columns: readonly Column<Row>[];
  /** Null if the values are not a valid position. */
  readonly readPosition: (values: readonly [number, string | number]) => Position | null;
  /** Yields the pages that follow `after`. Each page is read with its own short statements and may be empty. */
  readonly pages: (job: ExportJob, after: Position | null) => AsyncGenerator<readonly Positioned<Row>[]>;
};

/** Rows per page. A page takes a few milliseconds of CPU, so other requests are not delayed. */
export const ROWS_MAX = 500;

/** Rejects forged cursors whose values exceed the range of their columns. */
export function readNumbers(
  [first, second]: readonly [number, string | number],
  secondMax = Number.MAX_SAFE_INTEGER,
): Position | null {
  const fits = typeof second === "number" && first >= 0 && second >= 0 && second <= secondMax;
  return fits ? [first, second] : null;
}
