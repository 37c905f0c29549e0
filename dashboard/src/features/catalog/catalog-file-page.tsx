import { useSuspenseQuery } from "@tanstack/react-query";
import { Download, GitCompareArrows } from "lucide-react";
import { useId, useState } from "react";
import type { Body } from "../../api/answer.ts";
import { callOf, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall, CodeBlock, Disclosure } from "../../ui/code-block.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, TextArea } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { tell } from "../../ui/toast.tsx";
import type { Reach } from "../plans/reach-choice.tsx";
import { CatalogChanges, CatalogReach } from "./catalog-changes.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CATALOG_ACTIONS, EditProblem } from "./edit-problem.tsx";
import { CATALOG_PATH, catalogDocumentQuery, refreshCatalog } from "./queries.ts";

/** Everything that an environment sells, to keep in a repository and to apply again. */
export function CatalogFilePage() {
  const place = usePlace();
  const { data: document } = useSuspenseQuery(catalogDocumentQuery(place));
  const text = JSON.stringify(document, null, 2);
  const name = `catalog-${place.projectId}-${place.environment}.json`;
  return (
    <Page
      title="Catalog as a file"
      note="All pools, features, plans and event keys of this environment, as one document for your repository."
    >
      <Card
        title="Export"
        note="Plans as of their newest version. Drafts are no part of it."
        actions={
          <Button icon={Download} onClick={() => saveFile(name, `${text}\n`)}>
            Download {name}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Disclosure title="Show it">
            <CodeBlock label="the catalog" code={text} />
          </Disclosure>
          <ApiCall call={callOf("get", CATALOG_PATH, { params: { path: place } })} />
        </div>
      </Card>
      <ApplyCatalog />
    </Page>
  );
}

type CatalogGiven = Body<"diffCatalog">;

/** A file's way in: compared first, then applied as it was compared. */
function ApplyCatalog() {
  const place = usePlace();
  const mayApply = useMayActAs("admin");
  const [text, setText] = useState("");
  const [archiveMissing, setArchiveMissing] = useState(false);
  const [complaint, setComplaint] = useState<string | undefined>();
  const compare = useWrite("post", `${CATALOG_PATH}/diff`);
  /** What was compared is no longer what stands there. */
  function change(apply: () => void): void {
    apply();
    setComplaint(undefined);
    compare.reset();
  }
  function submit(): void {
    try {
      compare.mutate({ params: { path: place }, body: { catalog: JSON.parse(text), archiveMissing } });
    } catch (error) {
      setComplaint(`This is not JSON: ${error instanceof Error ? error.message : "it cannot be read"}.`);
    }
  }
  const isPending = compare.data?.changes.some(({ change: kind }) => kind !== "unchanged") ?? false;
  return (
    <>
      <Card title="Apply a file" note="What it does not mention stays as it is. Nothing is ever deleted.">
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!compare.isPending) submit();
          }}
        >
          <FileField label="Choose a file" onText={(read) => change(() => setText(read))} />
          <TextArea
            label="Or paste it"
            isMono
            rows={8}
            spellCheck={false}
            placeholder='{ "features": [{ "key": "image.render", "name": "Image rendering", "cost": { "credits": 10 } }] }'
            value={text}
            error={complaint}
            onChange={({ target }) => change(() => setText(target.value))}
          />
          <Checkbox
            label="Also archive what the file lacks"
            hint="Plans and features that it does not list are then no longer offered, provided it lists any."
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
          <CatalogChanges changes={compare.data.changes} nothing="All that the file says is so already." />
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
  const place = usePlace();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const request = { params: { path: place }, body: { ...given, reach, expectedVersion: version } };
  const apply = useWrite("post", `${CATALOG_PATH}/apply`, {
    onSuccess: async () => {
      tell("The file is applied", `${count} made in ${place.environment === "live" ? "LIVE" : "test"}.`);
      onDone();
      await refreshCatalog();
    },
    onError: () => setConfirming(false),
  });
  const action = `Apply ${count}`;
  return (
    <Card title="Apply">
      <div className="flex flex-col gap-4">
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          write={apply}
          edited={{ actions: CATALOG_ACTIONS, subject: null }}
          read={async () => onReadAgain()}
          note="Comparing again shows what the file would do now."
        />
        <ApiCall call={apply.callOf(request)} />
        <div>
          <Button
            tone="primary"
            isBusy={apply.isPending}
            onClick={() => (place.environment === "live" ? setConfirming(true) : apply.mutate(request))}
          >
            {inEnvironment(action, place.environment)}
          </Button>
        </div>
      </div>
      <WriteDialog
        isOpen={isConfirming}
        title="Apply a file to LIVE"
        write={apply}
        request={null}
        wanted="LIVE"
        action={action}
        tone="danger"
        problem={null}
        onSubmit={() => apply.mutate(request)}
        onClose={() => setConfirming(false)}
      >
        {count} of what your real customers are sold, all in one step.
      </WriteDialog>
    </Card>
  );
}

/** A text file, read here: it goes nowhere before somebody says so. */
function FileField({ label, onText }: { label: string; onText: (text: string) => void }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-form font-medium">
        {label}
      </label>
      <input
        id={id}
        type="file"
        accept="application/json,.json"
        onChange={({ target }) => void target.files?.[0]?.text().then(onText)}
        className="w-full rounded-md text-body text-muted file:mr-3 file:h-8 file:rounded-md file:border file:border-line file:bg-surface file:px-3 file:text-form file:font-medium file:text-ink hover:file:bg-hover"
      />
    </div>
  );
}
