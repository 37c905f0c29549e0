import { Callout } from "../../ui/callout.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import type { ImportReport } from "./use-import.ts";

type RowError = ImportReport["errors"][number];

const COLUMNS: readonly Column<RowError>[] = [
  { name: "Row", isNumber: true, cell: ({ row }) => formatCount(row) },
  {
    name: "Column",
    cell: ({ column }) => (column === null ? "" : <code className="font-mono">{column}</code>),
  },
  { name: "What is wrong", isWide: true, cell: ({ message }) => message },
];

/** What an import would do, or has done. */
export function ImportReportView({ report }: { report: ImportReport }) {
  const { isDryRun, outcome, rows, failed, errors, planChanged, creditsAdded } = report;
  const counts = [
    ["New", report.created],
    ["Changed", report.changed],
    ["As they are", report.unchanged],
    ["With errors", failed],
  ] as const;
  const shownRows = new Set(errors.map(({ row }) => row)).size;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="font-semibold">
        {isDryRun ? "Nothing is written yet. " : "Done. "}
        {countOf(rows, "row")} {isDryRun ? "would be" : "were"} handled like this:
      </p>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line sm:grid-cols-4">
        {counts.map(([name, count]) => (
          <div key={name} className="bg-surface px-3 py-2">
            <dt className="text-caption text-muted">{name}</dt>
            <dd className="text-section font-semibold">{formatCount(count)}</dd>
          </div>
        ))}
      </dl>
      <p className="text-muted">
        Another plan or a later end of it: {countOf(planChanged, "row")}. Credits:{" "}
        {countOf(creditsAdded, "row")}.
      </p>
      {outcome === "stopped" && (
        <Callout tone="warn" title="The file could not be read to its end">
          What stands after the last row named below was not looked at.
        </Callout>
      )}
      {errors.length > 0 && (
        <>
          <p>
            {shownRows < failed
              ? `The first ${shownRows} of ${formatCount(failed)} rows with errors. `
              : "Rows with errors are left out as a whole. "}
            The header is row 1.
          </p>
          <div className="max-h-64 overflow-y-auto rounded-md border border-line">
            <Table
              label="Rows with errors"
              columns={COLUMNS}
              rows={errors}
              keyOf={({ row, column, code }) => `${row} ${column} ${code}`}
            />
          </div>
        </>
      )}
    </div>
  );
}
