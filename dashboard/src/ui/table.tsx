import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type Column<Row> = {
  /** Also its heading. */
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand right. */
  readonly isNumber?: boolean;
  /** The first to go where the window is narrow. */
  readonly hidesWhenNarrow?: boolean;
  /** Takes what the others leave, and wraps. */
  readonly isWide?: boolean;
};

/** Rows come sorted and filtered from the API, page by page: a table only shows them. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  toneOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** Marks a row that deserves a look. */
  toneOf?: (row: Row) => "warn" | null;
}) {
  return (
    // Focusable, because what scrolls must scroll by keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs it
    <section className="overflow-x-auto" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-body">
        <thead>
          <tr className="border-b border-line text-left text-caption text-muted">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={classNames(
                  "h-9 px-4 font-medium whitespace-nowrap",
                  column.isNumber && "text-right",
                  column.isWide && "w-full",
                  column.hidesWhenNarrow && "max-md:hidden",
                )}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={classNames(
                "border-b border-line last:border-b-0 hover:bg-hover",
                toneOf?.(row) === "warn" && "bg-warn-soft",
              )}
            >
              {columns.map((column) => (
                <td
                  key={column.name}
                  className={classNames(
                    "h-10 px-4 py-1.5 align-middle",
                    column.isNumber && "text-right",
                    column.isWide ? "min-w-40" : "whitespace-nowrap",
                    column.hidesWhenNarrow && "max-md:hidden",
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
