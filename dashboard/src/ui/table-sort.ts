import { useState } from "react";
import { type Column, columnId, directionOf, type Sorting } from "./table-columns.tsx";

/** Sorts a list in the browser. Until a heading is clicked, the list keeps its order. */
export function useSorted<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  isSortable: boolean,
): { columns: readonly Column<Row>[]; rows: readonly Row[]; sorting?: Sorting } {
  const [value, onSort] = useState("");
  const sorting = { value, onSort };
  if (!isSortable || rows.length < 2) return { columns, rows };
  const sortable = columns.map((column) => (column.csv === undefined ? column : withOrders(column)));
  const by = sortable.find((column) => directionOf(column, sorting) !== undefined);
  const fieldOf = by?.sortBy ?? by?.csv;
  if (by === undefined || fieldOf === undefined) return { columns: sortable, rows, sorting };
  const isDescending = directionOf(by, sorting) === "descending";
  return { columns: sortable, rows: sortBy(rows, fieldOf, isDescending), sorting };
}

/** The first click sorts text ascending and numbers descending. */
function withOrders<Row>(column: Column<Row>): Column<Row> {
  const key = columnId(column);
  const ascending = { value: `${key} ascending`, direction: "ascending" } as const;
  const descending = { value: `${key} descending`, direction: "descending" } as const;
  return { ...column, orders: column.isNumber ? [descending, ascending] : [ascending, descending] };
}

/** Rows without a value come last in both directions. */
export function sortBy<Row>(
  rows: readonly Row[],
  fieldOf: (row: Row) => string | number | null,
  isDescending: boolean,
): Row[] {
  return rows
    .map((row) => ({ row, value: fieldOf(row) }))
    .toSorted((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return isDescending ? compare(b.value, a.value) : compare(a.value, b.value);
    })
    .map(({ row }) => row);
}

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : COLLATOR.compare(String(a), String(b));
}

const COLLATOR = new Intl.Collator("en", { numeric: true });
