import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Answer, Scope } from "../../api/answer.ts";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { callOf, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock, Disclosure, quote } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { notify } from "../../ui/toast.tsx";
import { useAbort } from "../../ui/use-abort.ts";
import { importNameOf, isImportName } from "./import-name.ts";

/** Checks the file with a dry run, then imports exactly that file. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const scope = useScope();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const look = useImport(true);
  const run = useImport(false);
  const { begin, stop } = useAbort();
  const chosen = useRef<File | null>(null);
  async function choose(next: File | null): Promise<void> {
    chosen.current = next;
    setFile(null);
    setName("");
    if (next === null) return;
    const nextName = await importNameOf(next);
    if (chosen.current !== next) return;
    setFile(next);
    setName(nextName);
  }
  const isBusy = look.isPending || run.isPending;
  const looked = look.data !== undefined && look.variables?.file === file && look.variables.name === name;
  const rows = (look.data?.rows ?? 0) - (look.data?.failed ?? 0);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isWide
      title="Import customers"
      note="A CSV file can include plans and opening balances."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (file === null || !isImportName(name) || isBusy || run.isSuccess) return;
          if (looked) run.mutate({ file, name, signal: begin() });
          else look.mutate({ file, name, signal: begin() });
        }}
      >
        {run.data === undefined && (
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="File"
              type="file"
              accept=".csv,text/csv"
              required
              disabled={isBusy}
              onChange={({ target }) => void choose(target.files?.[0] ?? null)}
            />
            <TextField
              label="Import name"
              hint="If you import again with this name, nothing is added twice."
              error={name === "" || isImportName(name) ? undefined : "Use letters, digits and . _ : - only."}
              value={name}
              required
              disabled={isBusy}
              isMono
              onChange={(event) => setName(event.target.value)}
            />
          </div>
        )}
        {run.data === undefined ? (
          looked && <ImportReportView report={look.data} />
        ) : (
          <ImportReportView report={run.data} />
        )}
        <ProblemCallout error={run.error ?? look.error} />
        {run.error !== null && (
          <p className="text-muted">
            Import the same file with the same name to resume. Nothing is added twice.
          </p>
        )}
        {run.data === undefined && <Help call={curlOfImport(scope, name, file?.name)} />}
        <DialogActions>
          {isBusy ? (
            <Button onClick={stop}>Stop</Button>
          ) : (
            <Button onClick={onClose}>{run.data === undefined ? "Cancel" : "Close"}</Button>
          )}
          {run.data === undefined && (
            <Button
              type="submit"
              tone="primary"
              isBusy={isBusy}
              isDisabled={file === null || !isImportName(name) || (looked && rows === 0)}
            >
              {looked
                ? inEnvironment(`Import ${countOf(rows, "row")}`, scope.environment, "into")
                : "Check file"}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

const EXAMPLE = `customerId,name,plan,anchor,pool,allowanceRemaining,credits,kind,expiresAt
customer_42,Acme GmbH,pro,2026-01-15T00:00:00Z,,300,250,purchase,
customer_42,,,,,,50,promotion,2027-01-01T00:00:00Z
customer_43,Initech,free,,,,,,`;

const COLUMN_NOTES = [
  ["anchor", "the renewal day. Default: the time of the import"],
  ["allowanceRemaining", "what is left of the plan’s allowance. Empty: the full allowance"],
  ["credits", "added to the allowance"],
  ["kind", "purchase, manual or promotion. Default: manual"],
  ["pool", "the pool of the row. Default: credits"],
] as const;

function Help({ call }: { call: string }) {
  return (
    <div className="flex flex-col gap-2">
      <Disclosure title="File format">
        <p className="mb-2 text-muted">
          UTF-8, comma-separated. Only customerId is required. Empty cells change nothing. A customer with
          several balances has several rows, one after the other.
        </p>
        <ul className="mb-2 text-muted">
          {COLUMN_NOTES.map(([column, note]) => (
            <li key={column}>
              <code className="font-mono">{column}</code>: {note}
            </li>
          ))}
        </ul>
        <CodeBlock label="an example file" code={EXAMPLE} />
      </Disclosure>
      <Disclosure title="API call">
        <CodeBlock label="the call" code={call} />
      </Disclosure>
    </div>
  );
}

function curlOfImport(scope: Scope, name: string, file = "customers.csv"): string {
  const query = { name: name || "opening", dryRun: "true" } as const;
  const { path } = callOf("post", IMPORTS_PATH, { params: { path: scope, query }, body: "" });
  return [
    `curl -X POST ${quote(`${window.location.origin}${path}`)}`,
    `-H "Authorization: Bearer $PURSER_TOKEN"`,
    "-H 'Content-Type: text/csv'",
    `--data-binary ${quote(`@${file}`)}`,
  ].join(" \\\n  ");
}

const IMPORTS_PATH = "/manage/v1/projects/{projectId}/{environment}/imports";

type ImportReport = Answer<"importCustomers">;
type ImportWish = { readonly file: File; readonly name: string; readonly signal: AbortSignal };

/** Uploads the file as it is. */
function useImport(isDryRun: boolean) {
  const scope = useScope();
  return useMutation({
    mutationFn: ({ file, name, signal }: ImportWish): Promise<ImportReport> =>
      answerOf(
        api.POST(IMPORTS_PATH, {
          params: { path: scope, query: { name, dryRun: isDryRun ? "true" : "false" } },
          headers: { "Content-Type": "text/csv" },
          body: "",
          bodySerializer: () => file,
          signal,
        }),
      ),
    onSuccess: ({ created, changed }) => {
      if (!isDryRun) {
        notify(`Imported ${countOf(created + changed, "customer")}`, `${created} new, ${changed} changed`);
      }
    },
    // Also after a stop or an error, because some rows may already be imported.
    onSettled: () => {
      if (isDryRun) return;
      void refresh("customers");
    },
  });
}

type RowError = ImportReport["errors"][number];

const COLUMNS: readonly Column<RowError>[] = [
  { name: "Row", isNumber: true, cell: ({ row }) => formatCount(row) },
  {
    name: "Column",
    cell: ({ column }) => (column === null ? "" : <code className="font-mono">{column}</code>),
  },
  { name: "Error", isWide: true, cell: ({ message }) => message },
];

/** The API returns no more. */
const ERRORS_SHOWN_MAX = 50;

/** Result of an import or dry run. */
function ImportReportView({ report }: { report: ImportReport }) {
  const { isDryRun, outcome, rows, failed, errors, planChanged, creditsAdded, credits } = report;
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
        {isDryRun
          ? `${countOf(planChanged, "customer changes", "customers change")} plan. ${countOf(creditsAdded, "row adds", "rows add")} credits.`
          : `${countOf(planChanged, "customer")} changed plan. ${countOf(creditsAdded, "row")} added credits.`}
      </p>
      {credits.length > 0 && <CreditsTable isDryRun={isDryRun} credits={credits} />}
      {outcome === "stopped" && (
        <Callout tone="warn" title="The file could not be read completely">
          Rows after the last row listed below were not checked. The customer before it is left out.
        </Callout>
      )}
      {errors.length > 0 && (
        <>
          <p>
            {errors.length === ERRORS_SHOWN_MAX && `Showing the first ${ERRORS_SHOWN_MAX} errors. `}
            Rows with errors are skipped, with all rows of their customer. The header is row 1.
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
          amount("By plan", ({ allowance }) => allowance),
          amount("Purchased", ({ purchase }) => purchase),
          amount("By hand", ({ manual }) => manual),
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
