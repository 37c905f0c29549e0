import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Scope } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { callOf, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock, Disclosure, quote } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { notify } from "../../ui/toast.tsx";
import { useAbort } from "../../ui/use-abort.ts";
import { importNameOf, isImportName } from "./import-name.ts";
import { type ImportReport, ImportReportView } from "./import-report.tsx";

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
              hint="If you import again under this name, nothing is added twice."
              error={name === "" || isImportName(name) ? undefined : "Use only letters, digits and . _ : -"}
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
          <>
            <ImportReportView report={run.data} />
            {run.data.failed > 0 && run.data.rows > run.data.failed && (
              <Callout tone="warn" title={`Keep the import name: ${run.variables.name}`}>
                After you correct the skipped rows, import the file again under this import name. Under a
                different name, the credits in all other rows would be added a second time.
              </Callout>
            )}
          </>
        )}
        <ProblemCallout error={run.error ?? look.error} />
        {run.error !== null && (
          <p className="text-muted">
            To resume, import the same file under the same import name. Nothing is added twice.
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
  ["allowanceRemaining", "the remaining credits of the plan’s allowance. Default: the full allowance"],
  ["credits", "credits granted in addition to the allowance"],
  ["kind", "purchase, manual (shown as Goodwill) or promotion. Default: manual"],
  ["pool", "the pool for this row. Default: credits"],
] as const;

function Help({ call }: { call: string }) {
  return (
    <div className="flex flex-col gap-2">
      <Disclosure title="File format">
        <p className="mb-2 text-muted">
          UTF-8, comma-separated. Only customerId is required. An empty cell keeps the current value, or uses
          the default below. To import several balances for a customer, use one row per balance, on
          consecutive rows.
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

type ImportCall = { readonly file: File; readonly name: string; readonly signal: AbortSignal };

/** Uploads the file unchanged. */
function useImport(isDryRun: boolean) {
  const scope = useScope();
  return useMutation({
    mutationFn: ({ file, name, signal }: ImportCall): Promise<ImportReport> =>
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
    // Refresh even after a stop or an error, because some rows may already be imported.
    onSettled: () => {
      if (isDryRun) return;
      void refresh("customers");
    },
  });
}
