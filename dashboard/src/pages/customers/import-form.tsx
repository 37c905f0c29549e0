import { useRef, useState } from "react";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { useStop } from "../../ui/use-stop.ts";
import { inEnvironment } from "../../words/environments.ts";
import { countOf } from "../../words/numbers.ts";
import { importNameOf, isImportName } from "./import-name.ts";
import { ImportReportView } from "./import-report.tsx";
import { useImport } from "./use-import.ts";

/** First a look at every row, then the import of exactly what was looked at. */
export function ImportForm({ onClose }: { onClose: () => void }) {
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
      {run.data === undefined && <Help call={curlOfImport(pathIn(place, "imports"), name, file?.name)} />}
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

function curlOfImport(path: string, name: string, file = "customers.csv"): string {
  const query = new URLSearchParams({ name: name || "opening", dryRun: "true" });
  return [
    `curl -X POST '${window.location.origin}${path}?${query}'`,
    `-H "Authorization: Bearer $PURSER_TOKEN"`,
    "-H 'Content-Type: text/csv'",
    `--data-binary '@${file.replaceAll("'", "'\\''")}'`,
  ].join(" \\\n  ");
}
