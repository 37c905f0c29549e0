import { type ReactNode, useRef } from "react";
import { listEnd } from "../format/numbers.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./callout.tsx";
import { classNames } from "./class-names.ts";
import {
  type Column,
  ColumnMenu,
  columnId,
  directionOf,
  Heading,
  lookOf,
  type Sorting,
  useHiddenColumns,
} from "./table-columns.tsx";
import { CsvButton, type ReadAll } from "./table-csv.tsx";
import { type RowDetails, type RowTone, TableRow } from "./table-row.tsx";
import { SelectAll, type Selection, SelectRow } from "./table-selection.tsx";
import { useSorted } from "./table-sort.ts";

export { type Column, csvColumn } from "./table-columns.tsx";

type TableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** Marks a suspicious row (warn), the linked row (accent) or a row that just arrived (new). */
  toneOf?: (row: Row) => RowTone;
  /** Expandable details of a row, and the label of their button. */
  details?: RowDetails<Row>;
  /** The element ID of a row, for links. */
  idOf?: (row: Row) => string;
  /** Lets columns with `orders` sort the list. */
  sorting?: Sorting;
  /** Shows checkboxes. */
  selection?: Selection<Row>;
};

/** Shows rows that the API has sorted and filtered. */
export function Table<Row>({
  label,
  columns: all,
  rows,
  keyOf,
  toneOf,
  details,
  idOf,
  sorting,
  selection,
}: TableProps<Row>) {
  const columns = all.filter(({ isShown = true, isCsvOnly = false }) => isShown && !isCsvOnly);
  // Action cells cover the cells that scroll under them, so the rows need a background.
  const actions = columns.find(({ isActions }) => isActions);
  const hasActions = actions !== undefined;
  const lastClicked = useRef<string | number | null>(null);
  function select(row: Row, isSelected: boolean, isRange: boolean): void {
    const at = rows.indexOf(row);
    const from = isRange ? rows.findIndex((other) => keyOf(other) === lastClicked.current) : -1;
    lastClicked.current = keyOf(row);
    const range = from < 0 ? [row] : rows.slice(Math.min(at, from), Math.max(at, from) + 1);
    selection?.onSelect(range, isSelected);
  }
  return (
    // Focusable for keyboard scrolling; positioned to contain screen-reader-only elements.
    <section
      className={classNames(
        "relative overflow-x-auto first:rounded-t-lg",
        !hasActions ? "scroll-hint" : actions.hidesBelow === "md" && "max-md:scroll-hint",
      )}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs keyboard focus
      tabIndex={0}
    >
      <table className="w-full border-collapse text-body">
        <thead>
          <tr
            className={classNames(
              "border-b border-line text-left text-caption text-muted",
              hasActions && "bg-surface",
            )}
          >
            {selection !== undefined && <SelectAll rows={rows} keyOf={keyOf} selection={selection} />}
            {details !== undefined && (
              <th scope="col" className="w-0">
                <span className="sr-only">Details</span>
              </th>
            )}
            {columns.map((column) => (
              <th
                key={columnId(column)}
                scope="col"
                aria-sort={directionOf(column, sorting)}
                className={classNames(
                  "h-9 px-2 font-medium whitespace-nowrap first:pl-4 last:pr-4 md:px-3",
                  lookOf(column),
                )}
              >
                <Heading column={column} sorting={sorting} />
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
              isSelected={selection?.keys.has(keyOf(row)) ?? false}
              box={
                selection !== undefined && (
                  <SelectRow
                    row={row}
                    isSelected={selection.keys.has(keyOf(row))}
                    label={selection.labelOf(row)}
                    onSelect={select}
                  />
                )
              }
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

export type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => unknown;
};

export function ListFooter({
  pages,
  isCut = false,
  shown,
  what,
  note,
  tools,
}: {
  pages: Pages | undefined;
  isCut?: boolean;
  shown: number;
  /** Plural noun: "customers". */
  what: string;
  /** Follows the count. */
  note?: string | undefined;
  tools?: ReactNode;
}) {
  const hasMore = pages?.hasNextPage === true;
  return (
    <footer className="border-t border-line px-4 py-2">
      {pages?.isFetchNextPageError && <ProblemCallout error={pages.error} />}
      <div className="flex flex-wrap items-center gap-x-2 text-caption text-muted">
        <span className="mr-auto">
          {listEnd({ shown, what, hasMore: hasMore || isCut })}
          {note !== undefined && `. ${note}`}
        </span>
        {tools}
        {hasMore && (
          <Button tone="quiet" isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
    </footer>
  );
}

/**
 * A list, or `empty` if it has no rows. Users can hide columns and download the rows. A fully loaded list that the API does not sort can be
 * sorted by every column with a CSV value. The hidden columns are stored by `label`, so labels must be unique.
 */
export function ListTable<Row>({
  pages,
  what,
  note,
  empty,
  readAll,
  isPartial = false,
  keepsOrder = false,
  cutAt,
  about,
  columns,
  ...table
}: TableProps<Row> & {
  /** Not needed for a list that is always fully loaded. */
  pages?: Pages;
  /** Plural noun: "customers". */
  what: string;
  note?: string | undefined;
  empty?: ReactNode;
  readAll?: ReadAll<Row>;
  /** The loaded pages may be incomplete, so a download reads all rows again. */
  isPartial?: boolean;
  /** The order has a meaning, so users cannot sort the list. */
  keepsOrder?: boolean;
  /** There may be more rows than this number, and the API cannot return them. */
  cutAt?: number | undefined;
  /** The ID of the customer whose list it is, for the name of the CSV file. */
  about?: string;
}) {
  const [hidden, setHidden] = useHiddenColumns(table.label);
  const isWhole = pages?.hasNextPage !== true && !isPartial && cutAt === undefined;
  const offered = columns.filter(({ isShown = true }) => isShown);
  const sorted = useSorted(offered, table.rows, isWhole && !keepsOrder && table.sorting === undefined);
  if (table.rows.length === 0 && empty !== undefined) return empty;
  const shown = sorted.columns.filter((column, index) => index === 0 || !hidden.has(columnId(column)));
  const hideable = offered
    .slice(1)
    .filter(({ isNameHidden, isActions, isCsvOnly }) => !isNameHidden && !isActions && !isCsvOnly);
  return (
    <>
      <Table {...table} {...sorted} columns={shown} />
      <ListFooter
        pages={pages}
        isCut={cutAt !== undefined}
        shown={Math.min(table.rows.length, cutAt ?? Number.POSITIVE_INFINITY)}
        what={what}
        note={note}
        tools={
          <>
            <CsvButton
              columns={shown}
              rows={sorted.rows}
              name={[table.label, about]}
              isWhole={isWhole}
              cutAt={cutAt}
              readAll={readAll}
            />
            {hideable.length > 1 && <ColumnMenu columns={hideable} hidden={hidden} onChange={setHidden} />}
          </>
        }
      />
    </>
  );
}
