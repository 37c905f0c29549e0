import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";
import { type Hour, SERIES } from "./series.ts";

const COLUMNS: readonly Column<Hour>[] = [
  { name: "Hour", isWide: true, cell: ({ hour }) => <Time at={hour} /> },
  ...SERIES.map(({ key, name }) => ({ name, isNumber: true, cell: (hour: Hour) => formatCount(hour[key]) })),
];

/** The newest first, as in every list. */
export function TrafficTable({ hours }: { hours: readonly Hour[] }) {
  return (
    <div className="mt-3 max-h-96 overflow-y-auto border-t border-line">
      <Table
        label="Requests by hour"
        columns={COLUMNS}
        rows={hours.toReversed()}
        keyOf={({ hour }) => hour}
      />
    </div>
  );
}
