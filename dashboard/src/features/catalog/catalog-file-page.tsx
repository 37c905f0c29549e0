import { useSuspenseQuery } from "@tanstack/react-query";
import { Download, GitCompareArrows } from "lucide-react";
import { useState } from "react";
import type { Body } from "../../api/answer.ts";
import { callOf, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall, CodeBlock, Disclosure } from "../../ui/code-block.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, TextArea, TextField } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { notify } from "../../ui/toast.tsx";
import type { Reach } from "../plans/plan-parts.tsx";
import { CatalogChanges, CatalogReach } from "./catalog-changes.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CATALOG_ACTIONS, EditProblem } from "./edit-problem.tsx";
import { CATALOG_PATH, catalogDocumentQuery, refreshCatalog } from "./queries.ts";

/** Exports and imports the catalog of an environment. */
export function CatalogFilePage() {
  const scope = useScope();
  const { data: document } = useSuspenseQuery(catalogDocumentQuery(scope));
  const text = JSON.stringify(document, null, 2);
  const name = `catalog-${scope.projectId}-${scope.environment}.json`;
  return (
    <Page
      title="Catalog file"
      note="Export and import the catalog as JSON."
      actions={<PageCode call={callOf("get", CATALOG_PATH, { params: { path: scope } })} />}
    >
      <Card
        title="Export"
        note="Latest plan versions, without drafts."
        actions={
          <Button icon={Download} onClick={() => saveFile(name, `${text}\n`)}>
            Download {name}
          </Button>
        }
      >
        <Disclosure title="Show JSON">
          <CodeBlock label="the catalog" code={text} />
        </Disclosure>
      </Card>
      <ApplyCatalog />
    </Page>
  );
}

type CatalogGiven = Body<"diffCatalog">;

/** Imports a file: shows a comparison first, and then applies exactly those changes. */
function ApplyCatalog() {
  const scope = useScope();
  const mayApply = useMayActAs("admin");
  const [text, setText] = useState("");
  const [archiveMissing, setArchiveMissing] = useState(false);
  const [complaint, setComplaint] = useState<string | undefined>();
  const compare = useWrite("post", `${CATALOG_PATH}/diff`);
  /** An edit invalidates the comparison. */
  function change(apply: () => void): void {
    apply();
    setComplaint(undefined);
    compare.reset();
  }
  function submit(): void {
    try {
      compare.mutate({ params: { path: scope }, body: { catalog: JSON.parse(text), archiveMissing } });
    } catch (error) {
      setComplaint(`Invalid JSON: ${error instanceof Error ? error.message : "cannot be parsed"}.`);
    }
  }
  const isPending = compare.data?.changes.some(({ change: kind }) => kind !== "unchanged") ?? false;
  return (
    <>
      <Card title="Import" note="Items that are not in the file stay unchanged.">
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!compare.isPending) submit();
          }}
        >
          <TextField
            label="Upload file"
            type="file"
            accept="application/json,.json"
            onChange={({ target }) =>
              void target.files?.[0]?.text().then((read) => change(() => setText(read)))
            }
          />
          <TextArea
            label="Or paste JSON"
            isMono
            rows={8}
            spellCheck={false}
            placeholder='{ "features": [{ "key": "image.render", "name": "Image rendering", "cost": { "credits": 10 } }] }'
            value={text}
            error={complaint}
            onChange={({ target }) => change(() => setText(target.value))}
          />
          <Checkbox
            label="Archive items that are not in the file"
            hint="Plans are archived only if the file lists plans. The same applies to features."
            checked={archiveMissing}
            onChange={({ target }) => change(() => setArchiveMissing(target.checked))}
          />
          <ProblemCallout error={compare.error} />
          <div>
            <Button
              type="submit"
              icon={GitCompareArrows}
              isBusy={compare.isPending}
              isDisabled={text.trim() === ""}
            >
              Compare
            </Button>
          </div>
        </form>
      </Card>
      {compare.data !== undefined && (
        <>
          <CatalogChanges changes={compare.data.changes} nothing="The catalog already matches the file." />
          {mayApply && isPending && compare.variables !== undefined && (
            <ApplyPanel
              given={compare.variables.body}
              diff={compare.data}
              onReadAgain={submit}
              onDone={() => change(() => setText(""))}
            />
          )}
        </>
      )}
    </>
  );
}

function ApplyPanel({
  given,
  diff: { version, changes },
  onReadAgain,
  onDone,
}: {
  given: CatalogGiven;
  diff: CatalogDiff;
  onReadAgain: () => void;
  onDone: () => void;
}) {
  const scope = useScope();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const request = { params: { path: scope }, body: { ...given, reach, expectedVersion: version } };
  const apply = useWrite("post", `${CATALOG_PATH}/apply`, {
    onSuccess: async () => {
      notify("Catalog imported", inEnvironment(count, scope.environment));
      onDone();
      await refreshCatalog();
    },
    onError: () => setConfirming(false),
  });
  const action = `Import ${count}`;
  return (
    <Card title="Import changes">
      <div className="flex flex-col gap-4">
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          write={apply}
          edited={{ actions: CATALOG_ACTIONS, subject: null }}
          read={async () => onReadAgain()}
          note="Compare again to see the current changes."
        />
        <ApiCall call={apply.callOf(request)} />
        <div>
          <Button
            tone="primary"
            isBusy={apply.isPending}
            onClick={() => (scope.environment === "live" ? setConfirming(true) : apply.mutate(request))}
          >
            {inEnvironment(action, scope.environment, "into")}
          </Button>
        </div>
      </div>
      <WriteDialog
        isOpen={isConfirming}
        title="Import into Live"
        write={apply}
        request={null}
        wanted="live"
        action={action}
        preposition="into"
        tone="danger"
        problem={null}
        onSubmit={() => apply.mutate(request)}
        onClose={() => setConfirming(false)}
      >
        This applies {count} to your live catalog in one transaction.
      </WriteDialog>
    </Card>
  );
}
