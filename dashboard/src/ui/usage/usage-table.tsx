import { nameOfBucket } from "../../words/bucket-words.ts";
import { formatCount } from "../../words/numbers.ts";
import { capitalize } from "../../words/terms.ts";
import { LinkButton } from "../link-button.tsx";
import { useClock } from "../preferences.ts";
import { type Column, Table } from "../table.tsx";
import type { UsageRow, UsageShown } from "./usage-series.ts";

/** The chart's numbers, the newest first as in every list. Each line leads to its hours, or to its day. */
export function UsageTable({ shown, onNarrow }: { shown: UsageShown; onNarrow: (at: string) => void }) {
  const clock = useClock();
  const { asked, series, rows } = shown;
  const columns: Column<UsageRow>[] = [
    {
      name: capitalize(asked.bucket),
      cell: ({ at }) => (
        <LinkButton onClick={() => onNarrow(at)}>{nameOfBucket(at, asked.bucket, clock)}</LinkButton>
      ),
    },
    { name: "All", isNumber: true, cell: ({ total }) => <b className="font-medium">{formatCount(total)}</b> },
    ...(series.length < 2 ? [] : series).map(
      ({ id, name }): Column<UsageRow> => ({
        id,
        name,
        isNumber: true,
        cell: ({ values }) => formatOrNone(values[id] ?? 0),
      }),
    ),
  ];
  return (
    <div className="max-h-96 overflow-y-auto border-t border-line">
      <Table
        label={`${asked.name} over time`}
        columns={columns}
        rows={rows.filter(({ isBefore }) => !isBefore).toReversed()}
        keyOf={({ at }) => at}
      />
    </div>
  );
}

/** So that what is there stands out. */
function formatOrNone(value: number) {
  return value === 0 ? <span className="text-muted">0</span> : formatCount(value);
}
