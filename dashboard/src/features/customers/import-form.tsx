import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Answer, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { callOf, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { usePlace } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock, Disclosure, quote } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { tell } from "../../ui/toast.tsx";
import { useStop } from "../../ui/use-stop.ts";
import { importNameOf, isImportName } from "./import-name.ts";

/** First a look at every row, then the import of exactly what was looked at. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const look = useImport(true);
  const run = useImport(false);
  const { begin, stop } = useStop();
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
      note="From a CSV file with plans and opening balances. It is checked row by row first, and nothing is written before you say so."
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
              label="Name of the import"
              hint="The same file under the same name adds nothing twice."
              error={name === "" || isImportName(name) ? undefined : "Letters, digits and . _ : - only."}
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
            Import the same file under the same name again: it goes on, and adds nothing twice.
          </p>
        )}
        {run.data === undefined && <Help call={curlOfImport(place, name, file?.name)} />}
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
              {looked ? inEnvironment(`Import ${countOf(rows, "row")}`, place.environment) : "Check the file"}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

const EXAMPLE = `customerId,name,email,billingReference,plan,planEndsAt,credits,pool,expiresAt,reference
customer_42,Acme GmbH,pay@acme.example,cus_42,pro,,250,,,
customer_43,Initech,,,free,,,,,`;

function Help({ call }: { call: string }) {
  return (
    <div className="flex flex-col gap-2">
      <Disclosure title="What the file looks like">
        <p className="mb-2 text-muted">
          In UTF-8, with commas. Only customerId is needed; an empty cell leaves what there is.
        </p>
        <CodeBlock label="an example file" code={EXAMPLE} />
      </Disclosure>
      <Disclosure title="Do this by API">
        <CodeBlock label="the call" code={call} />
      </Disclosure>
    </div>
  );
}

function curlOfImport(place: Place, name: string, file = "customers.csv"): string {
  const query = { name: name || "opening", dryRun: "true" } as const;
  const { path } = callOf("post", IMPORTS_PATH, { params: { path: place, query }, body: "" });
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

/** The file goes as it is, for a look or for good. */
function useImport(isDryRun: boolean) {
  const place = usePlace();
  return useMutation({
    mutationFn: ({ file, name, signal }: ImportWish): Promise<ImportReport> =>
      answerOf(
        api.POST(IMPORTS_PATH, {
          params: { path: place, query: { name, dryRun: isDryRun ? "true" : "false" } },
          headers: { "Content-Type": "text/csv" },
          body: "",
          bodySerializer: () => file,
          signal,
        }),
      ),
    onSuccess: ({ created, changed }) => {
      if (!isDryRun) {
        tell(`Imported ${countOf(created + changed, "customer")}`, `${created} new, ${changed} changed`);
      }
    },
    // Also when it was stopped: the rows until then are imported.
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
  { name: "What is wrong", isWide: true, cell: ({ message }) => message },
];

/** What an import would do, or has done. */
function ImportReportView({ report }: { report: ImportReport }) {
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
