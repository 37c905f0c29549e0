import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { TableRow } from "./table-row.tsx";

export type Column<Row> = {
  /** Also its heading. */
  readonly name: string;
  /** Where several may have the same name. */
  readonly id?: string;
  /** For readers alone: what stands under it speaks for itself. */
  readonly isNameHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand right. */
  readonly isNumber?: boolean;
  /** The first to go where the window is narrow. */
  readonly hidesWhenNarrow?: boolean;
  /** Takes what the others leave, and wraps. */
  readonly isWide?: boolean;
};

export type RowTone = "warn" | "accent" | "new" | null;

export type RowDetails<Row> = { label: (row: Row) => string; show: (row: Row) => ReactNode };

/** Rows come sorted and filtered from the API, page by page: a table only shows them. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  toneOf,
  details,
  idOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** Marks a row that deserves a look (warn), the one that was looked for (accent), or one that comes while you look (new). */
  toneOf?: (row: Row) => RowTone;
  /** What unfolds below a row, and what the button for it says to readers. */
  details?: RowDetails<Row>;
  /** By which a link finds a row. */
  idOf?: (row: Row) => string;
}) {
  return (
    // Focusable, because what scrolls must scroll by keyboard too; positioned, so that what only readers see stays inside.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs it
    <section className="relative overflow-x-auto" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-body">
        <thead>
          <tr className="border-b border-line text-left text-caption text-muted">
            {details !== undefined && (
              <th scope="col" className="w-0">
                <span className="sr-only">Details</span>
              </th>
            )}
            {columns.map((column) => (
              <th
                key={column.id ?? column.name}
                scope="col"
                className={classNames(
                  "h-9 px-2 font-medium whitespace-nowrap first:pl-4 last:pr-4 md:px-3",
                  column.isNumber && "text-right",
                  column.isWide && "w-full",
                  column.hidesWhenNarrow && "max-md:hidden",
                )}
              >
                {column.isNameHidden ? <span className="sr-only">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TableRow
              key={keyOf(row)}
              row={row}
              columns={columns}
              tone={toneOf?.(row) ?? null}
              details={details}
              id={idOf?.(row)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}
