import { useEffect, useRef } from "react";

/** Rows selected by key, for actions on many rows. */
export type Selection<Row> = {
  readonly keys: ReadonlySet<string | number>;
  /** The label of a row's checkbox. */
  readonly labelOf: (row: Row) => string;
  readonly onSelect: (rows: readonly Row[], isSelected: boolean) => void;
};

/** Selects all rows that are shown, or none. */
export function SelectAll<Row>({
  rows,
  keyOf,
  selection: { keys, onSelect },
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  selection: Selection<Row>;
}) {
  const box = useRef<HTMLInputElement>(null);
  const selected = rows.filter((row) => keys.has(keyOf(row))).length;
  const isAll = rows.length > 0 && selected === rows.length;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = selected > 0 && !isAll;
  }, [selected, isAll]);
  return (
    <th scope="col" className="w-0 pl-4">
      <input
        ref={box}
        type="checkbox"
        aria-label={`Select the ${rows.length} rows shown`}
        checked={isAll}
        onChange={() => onSelect(rows, !isAll)}
        className="block size-4 accent-accent"
      />
    </th>
  );
}

/** Selects one row. With Shift, selects all rows from the last clicked row to this one. */
export function SelectRow<Row>({
  row,
  isSelected,
  label,
  onSelect,
}: {
  row: Row;
  isSelected: boolean;
  label: string;
  onSelect: (row: Row, isSelected: boolean, isRange: boolean) => void;
}) {
  return (
    <td className="pl-4">
      {/* The label is larger than the box, so that a click beside it does not open the row. */}
      <label className="-m-2 block p-2">
        <input
          type="checkbox"
          aria-label={label}
          checked={isSelected}
          onChange={({ nativeEvent }) =>
            onSelect(row, !isSelected, "shiftKey" in nativeEvent && nativeEvent.shiftKey === true)
          }
          className="block size-4 accent-accent"
        />
      </label>
    </td>
  );
}
