import type { Pool } from "../../postgres/pool.ts";
import type { Instant, ProjectId } from "../../primitives/brand.ts";
import type { ExportKind, ExportRange } from "../../store/cell/export/estimate.ts";
import type { Column } from "./column.ts";

/** Of what an export is made: which rows, and where they are. */
export type ExportJob = ExportRange & Moment & { readonly cell: Pool; readonly projectId: ProjectId };

/** When an export began, and which rows there were. */
export type Moment = Pick<ExportRange, "asOf" | "settled"> & {
  /** Where the history window began then. Null: there was none. */
  readonly windowStart: Instant | null;
  /** What was asked for, in short: the rest of it is not the rest of anything else. */
  readonly about: string;
};

/** Two values that order the rows: whoever has those of one row can go on after it. */
export type Position = readonly [number, string | number];

/** Of an export that was interrupted: what it was about, and the last row that arrived. */
export type Resume = Moment & { readonly after: Position };

export type Positioned<Row> = { readonly row: Row; readonly position: Position };

/** Rows of one kind, in an order that never changes, so that an export can be continued after any of them. */
export type Source<Row> = {
  readonly kind: ExportKind;
  readonly about: string;
  readonly columns: readonly Column<Row>[];
  /** Null: this is no position of this kind. */
  readonly readPosition: (values: readonly [number, string | number]) => Position | null;
  /** Page by page, each in a statement or two of its own; those after `after`. A page may be empty. */
  readonly pages: (job: ExportJob, after: Position | null) => AsyncGenerator<readonly Positioned<Row>[]>;
};

/** Of a page: some milliseconds of this process, which serves others meanwhile. */
export const ROWS_MAX = 500;

/** A cursor is the caller's to forge, and no column is wider than its numbers. */
export function readNumbers(
  [first, second]: readonly [number, string | number],
  secondMax = Number.MAX_SAFE_INTEGER,
): Position | null {
  const fits = typeof second === "number" && first >= 0 && second >= 0 && second <= secondMax;
  return fits ? [first, second] : null;
}
