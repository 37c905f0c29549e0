import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { listEnd } from "../format/numbers.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./callout.tsx";
import { classNames } from "./class-names.ts";

export type Column<Row> = {
  readonly name: string;
  /** React key if names can repeat. */
  readonly id?: string;
  /** Shows the heading to screen readers only. */
  readonly isNameHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  readonly isNumber?: boolean;
  readonly hidesWhenNarrow?: boolean;
  /** Takes the remaining width and wraps. */
  readonly isWide?: boolean;
  /** False omits the column, for example if the user's role does not allow its actions. */
  readonly isShown?: boolean;
};

type RowTone = "warn" | "accent" | "new" | null;

type RowDetails<Row> = { label: (row: Row) => string; show: (row: Row) => ReactNode };

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
};

/** Shows rows that the API has sorted and filtered. */
export function Table<Row>({ label, columns: all, rows, keyOf, toneOf, details, idOf }: TableProps<Row>) {
  const columns = all.filter(({ isShown = true }) => isShown);
  return (
    // Focusable for keyboard scrolling; positioned to contain screen-reader-only elements.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs keyboard focus
    <section className="scroll-hint relative overflow-x-auto" aria-label={label} tabIndex={0}>
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

const TONES = {
  warn: "bg-warn-soft",
  accent: "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]",
  // The starting style only applies to rows inserted after the first render.
  new: "transition-[opacity,translate,background-color] duration-700 starting:-translate-y-2 starting:bg-accent-soft starting:opacity-0",
} as const satisfies Record<Exclude<RowTone, null>, string>;

function TableRow<Row>({
  row,
  columns,
  tone,
  details,
  id,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  tone: RowTone;
  details: RowDetails<Row> | undefined;
  id: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const detailsId = useId();
  return (
    <>
      <tr
        id={id}
        aria-current={tone === "accent" || undefined}
        className={classNames(
          "border-b border-line",
          isOpen ? "border-b-0" : "last:border-b-0",
          tone === null ? "hover:bg-hover" : TONES[tone],
        )}
      >
        {details !== undefined && (
          <td className="pl-2">
            <Unfold
              label={details.label(row)}
              isOpen={isOpen}
              controls={detailsId}
              onClick={() => setOpen(!isOpen)}
            />
          </td>
        )}
        {columns.map((column) => (
          <td
            key={column.id ?? column.name}
            className={classNames(
              "h-10 px-2 py-1.5 align-middle first:pl-4 last:pr-4 md:px-3",
              column.isNumber && "text-right",
              column.isWide ? "min-w-40" : "whitespace-nowrap",
              column.hidesWhenNarrow && "max-md:hidden",
            )}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {details !== undefined && isOpen && (
        <tr id={detailsId} className="border-b border-line bg-sunken last:border-b-0">
          <td colSpan={columns.length + 1} className="px-4 py-4">
            <Unfolded>{details.show(row)}</Unfolded>
          </td>
        </tr>
      )}
    </>
  );
}

function Unfold({
  label,
  isOpen,
  controls,
  onClick,
}: {
  label: string;
  isOpen: boolean;
  controls: string;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-expanded={isOpen}
      aria-controls={isOpen ? controls : undefined}
      onClick={onClick}
      className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
    >
      <ChevronRight
        className={classNames("size-4 transition-transform", isOpen && "rotate-90")}
        aria-hidden
      />
    </button>
  );
}

/** Stays visible when the table scrolls sideways. */
function Unfolded({ children }: { children: ReactNode }) {
  return <div className="sticky left-4 max-w-[min(100%,calc(100vw-4rem))] whitespace-normal">{children}</div>;
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
}: {
  pages: Pages;
  shown: number;
  /** Plural noun: "customers". */
  what: string;
}) {
  return (
    <footer className="border-t border-line px-4 py-2">
      {isFetchNextPageError && <ProblemCallout error={error} />}
      <div className="flex items-center justify-between gap-4 text-caption text-muted">
        <span>{listEnd({ shown, what, hasMore: hasNextPage })}</span>
        {hasNextPage && (
          <Button tone="quiet" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
    </footer>
  );
}

/** A table read page by page, or `empty` if there are no rows. */
export function PagedTable<Row>({
  pages,
  what,
  empty,
  ...table
}: TableProps<Row> & { pages: Pages; what: string; empty?: ReactNode }) {
  if (table.rows.length === 0 && empty !== undefined) return empty;
  return (
    <>
      <Table {...table} />
      <More pages={pages} shown={table.rows.length} what={what} />
    </>
  );
}
