import { Menu } from "@base-ui/react/menu";
import { ArrowDown, ArrowUp, Check, ChevronsUpDown, Columns3 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { MENU_ITEM, MENU_POPUP } from "./menu.tsx";

export type Column<Row> = {
  readonly name: string;
  /** React key if names can repeat. */
  readonly id?: string;
  /** Shows the heading to screen readers only. */
  readonly isNameHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** The value in a CSV file, and the value by which the browser sorts. A column without `csv` has neither. */
  readonly csv?: (row: Row) => string | number | null;
  /** Sorts by this value instead. */
  readonly sortBy?: (row: Row) => string | number | null;
  /** In the CSV file, not in the table. */
  readonly isCsvOnly?: boolean;
  /** API sort orders for this column. The first click uses the first order. */
  readonly orders?: readonly [ColumnOrder, ColumnOrder];
  /** Clicking the row follows the first link in this column. */
  readonly isRowLink?: boolean;
  /** The buttons of a row. Right-aligned, and visible even when the table scrolls sideways. */
  readonly isActions?: boolean;
  /** Right-aligned. */
  readonly isNumber?: boolean;
  /** Hides the column in windows narrower than 768 (md) or 1280 pixels (xl). */
  readonly hidesBelow?: "md" | "xl";
  /** Wraps its text. */
  readonly isWide?: boolean;
  /** If false, the column is omitted, for example if the user's role does not allow its actions. */
  readonly isShown?: boolean;
};

/** A column that is only in the CSV file. */
export function csvColumn<Row>(name: string, csv: (row: Row) => string | number | null): Column<Row> {
  return { name, isCsvOnly: true, csv, cell: () => null };
}

export function columnId<Row>({ id, name }: Column<Row>): string {
  return id ?? name;
}

type ColumnOrder = { readonly value: string; readonly direction: "ascending" | "descending" };

/** The current order of a list, and how to change it. */
export type Sorting = { readonly value: string; readonly onSort: (value: string) => void };

/** The heading of a column. A column that the API can sort is a button. */
export function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { name, isNameHidden, isActions, orders } = column;
  if (orders === undefined || sorting === undefined)
    return isNameHidden || isActions ? <span className="sr-only">{name}</span> : name;
  const at = orders.findIndex(({ value }) => value === sorting.value);
  const next = orders[at === 0 ? 1 : 0];
  const Icon = at < 0 ? ChevronsUpDown : orders[at]?.direction === "ascending" ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => sorting.onSort(next.value)}
      className={classNames(
        "-mx-1 inline-flex h-7 items-center gap-1 rounded px-1 font-medium hover:bg-hover hover:text-ink",
        column.isNumber && "flex-row-reverse",
        at >= 0 && "text-ink",
      )}
    >
      {name}
      <Icon className={classNames("size-3.5", at < 0 && "opacity-50")} aria-hidden />
    </button>
  );
}

const HIDDEN = { md: "max-md:hidden", xl: "max-xl:hidden" } as const;

/** Alignment and visibility of a column's cells. */
export function lookOf<Row>({ isNumber, isActions, hidesBelow }: Column<Row>): string {
  return classNames(
    (isNumber || isActions) && "text-right",
    isActions && "pinned-hint sticky right-0 z-1 bg-inherit",
    hidesBelow !== undefined && HIDDEN[hidesBelow],
  );
}

/** For `aria-sort`. */
export function directionOf<Row>({ orders }: Column<Row>, sorting: Sorting | undefined) {
  return orders?.find(({ value }) => value === sorting?.value)?.direction;
}

const KEY = "purser.hidden-columns.";

/** The columns that this browser hides in a table. */
export function useHiddenColumns(
  table: string,
): [ReadonlySet<string>, (hidden: ReadonlySet<string>) => void] {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set(readHidden(table)));
  return [
    hidden,
    (next) => {
      setHidden(next);
      try {
        if (next.size === 0) localStorage.removeItem(KEY + table);
        else localStorage.setItem(KEY + table, JSON.stringify([...next]));
      } catch {
        // Without storage, the choice lasts until the page is left.
      }
    },
  ];
}

function readHidden(table: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY + table) ?? "[]");
    return Array.isArray(stored) ? stored.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}

/** A menu that hides columns. The first column names the row and cannot be hidden. */
export function ColumnMenu<Row>({
  columns,
  hidden,
  onChange,
}: {
  columns: readonly Column<Row>[];
  hidden: ReadonlySet<string>;
  onChange: (hidden: ReadonlySet<string>) => void;
}) {
  return (
    <Menu.Root>
      <Menu.Trigger render={<IconButton icon={Columns3} label="Choose columns" />} />
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" side="top" className="z-50 outline-none">
          <Menu.Popup className={MENU_POPUP}>
            {columns.map((column) => (
              <Menu.CheckboxItem
                key={columnId(column)}
                checked={!hidden.has(columnId(column))}
                closeOnClick={false}
                onCheckedChange={(isShown) => {
                  const next = new Set(hidden);
                  if (isShown) next.delete(columnId(column));
                  else next.add(columnId(column));
                  onChange(next);
                }}
                className={MENU_ITEM}
              >
                <span className="inline-flex size-4 items-center justify-center">
                  <Menu.CheckboxItemIndicator>
                    <Check className="size-4 text-accent" aria-hidden />
                  </Menu.CheckboxItemIndicator>
                </span>
                {column.name}
              </Menu.CheckboxItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
