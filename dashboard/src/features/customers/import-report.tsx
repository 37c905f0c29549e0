import { useSuspenseQuery } from "@tanstack/react-query";
import type { Answer } from "../../api/answer.ts";
import { plansQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { type Column, Table } from "../../ui/table.tsx";

export type ImportReport = Answer<"importCustomers">;
type RowError = ImportReport["errors"][number];

const COLUMNS: readonly Column<RowError>[] = [
  { name: "Row", isNumber: true, cell: ({ row }) => formatCount(row) },
  {
    name: "Column",
    cell: ({ column }) => (column === null ? "" : <code className="font-mono">{column}</code>),
  },
  { name: "Error", isWide: true, cell: ({ message }) => message },
];

/** Maximum number of errors that the API returns. */
const ERRORS_SHOWN_MAX = 50;

/** Result of an import or dry run. */
export function ImportReportView({ report }: { report: ImportReport }) {
  const { isDryRun, outcome, rows, failed, errors, creditsAdded, credits } = report;
  const counts = [
    ["New customers", report.created],
    ["Changed", report.changed],
    ["Unchanged", report.unchanged],
    ["Skipped rows", failed],
  ] as const;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="font-semibold">
        {isDryRun ? "Nothing has been imported yet. " : "Import complete. "}
        {countOf(rows, "row")} {isDryRun ? "checked." : "processed."}
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
        <PlanSentences report={report} />
        {isDryRun
          ? `${countOf(creditsAdded, "row adds", "rows add")} credits.`
          : `${countOf(creditsAdded, "row")} added credits.`}
      </p>
      {credits.length > 0 && <CreditsTable isDryRun={isDryRun} credits={credits} />}
      {outcome === "stopped" && (
        <Callout tone="warn" title="The file could not be read completely">
          Purser stopped reading at the last row listed below. It did not check later rows. The customer whose
          rows come directly before that row was also skipped.
        </Callout>
      )}
      {errors.length > 0 && (
        <>
          <p>
            {errors.length === ERRORS_SHOWN_MAX && `Showing the first ${ERRORS_SHOWN_MAX} errors. `}
            Rows with errors are skipped, along with all other rows for the same customer. The header is row
            1.
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

/** "2 new customers start on Pro. 1 existing customer gets a new plan or plan end date." */
function PlanSentences({ report: { isDryRun, started, planChanged } }: { report: ImportReport }) {
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  const startedAll = started.reduce((sum, { customers }) => sum + customers, 0);
  const changed = planChanged - startedAll;
  const sentences = started.map(({ plan, customers }) => {
    const name = plans.find(({ key }) => key === plan)?.name ?? plan;
    const verb = isDryRun ? (customers === 1 ? "starts" : "start") : "started";
    return `${countOf(customers, "new customer")} ${verb} on ${name}. `;
  });
  if (changed > 0) {
    const verb = isDryRun ? (changed === 1 ? "gets" : "get") : "got";
    sentences.push(`${countOf(changed, "existing customer")} ${verb} a new plan or plan end date. `);
  }
  return sentences.join("");
}

type PoolCredits = ImportReport["credits"][number];

/** The credits that an import adds, by pool and source. */
function CreditsTable({ isDryRun, credits }: { isDryRun: boolean; credits: readonly PoolCredits[] }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const amount = (name: string, of: (row: PoolCredits) => number): Column<PoolCredits> => ({
    name,
    isNumber: true,
    cell: (row) => formatCount(of(row)),
  });
  return (
    <div className="rounded-md border border-line">
      <Table
        label={isDryRun ? "Credits to be added" : "Credits added"}
        columns={[
          {
            name: isDryRun ? "Credits to be added" : "Credits added",
            isWide: true,
            cell: ({ pool }) => pools.find(({ key }) => key === pool)?.name ?? pool,
          },
          amount("Plan credits", ({ allowance }) => allowance),
          amount("Purchased", ({ purchase }) => purchase),
          amount("Goodwill", ({ manual }) => manual),
          amount("Promotion", ({ promotion }) => promotion),
          amount(
            "Total",
            ({ allowance, purchase, manual, promotion }) => allowance + purchase + manual + promotion,
          ),
        ]}
        rows={credits}
        keyOf={({ pool }) => pool}
      />
    </div>
  );
}
