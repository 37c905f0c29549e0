import { useMutation } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { useState } from "react";
import type { Body } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Checkbox, TextArea } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { ApplyPanel } from "./apply-panel.tsx";
import { CatalogChanges } from "./catalog-changes.tsx";
import { FileField } from "./file-field.tsx";

export type CatalogGiven = Pick<Body<"applyCatalog">, "catalog"> & { archiveMissing: boolean };

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
