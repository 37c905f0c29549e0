import { Download } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { toCsv } from "../format/csv.ts";
import { countOf, formatCount, listEnd } from "../format/numbers.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./callout.tsx";
import { classNames } from "./class-names.ts";
import { saveFile } from "./save-file.ts";
import {
  type Column,
  ColumnMenu,
  directionOf,
  Heading,
  lookOf,
  type Sorting,
  useHiddenColumns,
} from "./table-columns.tsx";
import { type RowDetails, type RowTone, TableRow } from "./table-row.tsx";
import { SelectAll, type Selection, SelectRow } from "./table-selection.tsx";

export type { Column } from "./table-columns.tsx";

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
        "relative overflow-x-auto",
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
                key={column.id ?? column.name}
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

/** Footer of a paged list. */
export function More({
  pages: { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage },
  shown,
  what,
  tools,
}: {
  pages: Pages;
  shown: number;
  /** Plural noun: "customers". */
  what: string;
  tools?: ReactNode;
}) {
  return (
    <footer className="border-t border-line px-4 py-2">
      {isFetchNextPageError && <ProblemCallout error={error} />}
      <div className="flex flex-wrap items-center gap-x-2 text-caption text-muted">
        <span className="mr-auto">{listEnd({ shown, what, hasMore: hasNextPage })}</span>
        {tools}
        {hasNextPage && (
          <Button tone="quiet" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
    </footer>
  );
}

/** Reads all rows of the list, with the current filters and order. Reports how many it has read. */
type ReadAll<Row> = (onProgress: (count: number) => void) => Promise<readonly Row[]>;

/** A table read page by page, or `empty` if there are no rows. Users can hide columns and download the table. */
export function PagedTable<Row>({
  pages,
  what,
  empty,
  readAll,
  isPartial = false,
  columns,
  ...table
}: TableProps<Row> & {
  pages: Pages;
  what: string;
  empty?: ReactNode;
  readAll?: ReadAll<Row>;
  /** The loaded pages may be incomplete, so a download reads all rows again. */
  isPartial?: boolean;
}) {
  const [hidden, setHidden] = useHiddenColumns(table.label);
  if (table.rows.length === 0 && empty !== undefined) return empty;
  const offered = columns.filter(({ isShown = true }) => isShown);
  const shown = offered.filter(({ name }, index) => index === 0 || !hidden.has(name));
  const hideable = offered
    .slice(1)
    .filter(({ isNameHidden, isActions, isCsvOnly }) => !isNameHidden && !isActions && !isCsvOnly);
  return (
    <>
      <Table {...table} columns={shown} />
      <More
        pages={pages}
        shown={table.rows.length}
        what={what}
        tools={
          <>
            <CsvButton
              columns={shown}
              rows={table.rows}
              what={what}
              isWhole={!pages.hasNextPage && !isPartial}
              {...(readAll === undefined ? {} : { readAll })}
            />
            {hideable.length > 1 && (
              <ColumnMenu names={hideable.map(({ name }) => name)} hidden={hidden} onChange={setHidden} />
            )}
          </>
        }
      />
    </>
  );
}

/** Downloads the visible columns of all rows. Without `readAll`, a list that is not fully loaded downloads only the rows shown. */
export function CsvButton<Row>({
  columns,
  rows,
  what,
  isWhole,
  readAll,
}: {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  what: string;
  isWhole: boolean;
  readAll?: ReadAll<Row>;
}) {
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  if (!columns.some(({ csv }) => csv !== undefined)) return null;
  async function save(): Promise<void> {
    setError(null);
    setCount(0);
    try {
      const all = isWhole || readAll === undefined ? rows : await readAll(setCount);
      saveFile(`${what.replaceAll(" ", "-")}.csv`, csvOf(columns, all), "text/csv");
    } catch (cause) {
      setError(cause);
    } finally {
      setCount(null);
    }
  }
  const isAll = isWhole || readAll !== undefined;
  return (
    <>
      <ProblemCallout error={error} />
      <Button tone="quiet" icon={Download} isBusy={count !== null} onClick={() => void save()}>
        {count !== null && count > 0
          ? `${formatCount(count)} read`
          : isAll
            ? "Download CSV"
            : `Download ${countOf(rows.length, "row")} as CSV`}
      </Button>
    </>
  );
}

export function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const saved = columns.flatMap(({ name, csv }) => (csv === undefined ? [] : [{ name, csv }]));
  return toCsv([saved.map(({ name }) => name), ...rows.map((row) => saved.map(({ csv }) => csv(row)))]);
}
