import { useMutation, useQueryClient } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { useState } from "react";
import type { Body } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Checkbox, TextArea } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { countOf } from "../../words/numbers.ts";
import { CatalogChanges } from "./catalog-changes.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CatalogReach } from "./catalog-reach.tsx";
import { EditProblem } from "./edit-problem.tsx";
import { FileField } from "./file-field.tsx";
import { CATALOG_ACTIONS } from "./last-change.ts";
import { refreshCatalog } from "./queries.ts";
import type { Reach } from "./reaches.ts";

type CatalogGiven = Pick<Body<"applyCatalog">, "catalog"> & { archiveMissing: boolean };

/** A file's way in: compared first, then applied as it was compared. */
export function ApplyCatalog() {
  const place = usePlace();
  const mayApply = useMayActAs("admin");
  const [text, setText] = useState("");
  const [archiveMissing, setArchiveMissing] = useState(false);
  const [complaint, setComplaint] = useState<string | undefined>();
  const compare = useMutation({
    mutationFn: (given: CatalogGiven) =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/catalog/diff", {
          params: { path: place },
          body: given,
        }),
      ),
  });
  /** What was compared is no longer what stands there. */
  function change(apply: () => void): void {
    apply();
    setComplaint(undefined);
    compare.reset();
  }
  function submit(): void {
    try {
      compare.mutate({ catalog: JSON.parse(text), archiveMissing });
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
              given={compare.variables}
              diff={compare.data}
              isReading={compare.isPending}
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
  isReading,
  onReadAgain,
  onDone,
}: {
  given: CatalogGiven;
  diff: CatalogDiff;
  isReading: boolean;
  onReadAgain: () => void;
  onDone: () => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const body = { ...given, reach, expectedVersion: version };
  const apply = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/catalog/apply", {
          params: { path: place },
          body,
        }),
      ),
    onSuccess: async () => {
      tell("The file is applied", `${count} made in ${place.environment === "live" ? "LIVE" : "test"}.`);
      onDone();
      await refreshCatalog(queryClient);
    },
    onError: () => setConfirming(false),
  });
  const action = inEnvironment(`Apply ${count}`, place.environment);
  return (
    <Card title="Apply">
      <div className="flex flex-col gap-4">
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          error={apply.error}
          edited={{ actions: CATALOG_ACTIONS, subject: null }}
          note="Comparing again shows what the file would do now."
          isReading={isReading}
          onReadAgain={onReadAgain}
        />
        <ApiCall call={{ method: "POST", path: pathIn(place, "catalog", "apply"), body }} />
        <div>
          <Button
            tone="primary"
            isBusy={apply.isPending}
            onClick={() => (place.environment === "live" ? setConfirming(true) : apply.mutate())}
          >
            {action}
          </Button>
        </div>
      </div>
      <ConfirmByTyping
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Apply a file to LIVE"
        wanted="LIVE"
        action={action}
        isBusy={apply.isPending}
        error={null}
        onConfirm={() => apply.mutate()}
      >
        {count} of what your real customers are sold, all in one step.
      </ConfirmByTyping>
    </Card>
  );
}
