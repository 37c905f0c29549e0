import { useSuspenseQuery } from "@tanstack/react-query";
import { Archive, ArchiveRestore } from "lucide-react";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Tagged } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { capitalize, costInWords } from "../../format/terms.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall, Json } from "../../ui/code-block.tsx";
import { Dialog, DialogActions, WriteForm } from "../../ui/dialog.tsx";
import { Details } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { PlanNames, useNames } from "../plans/plan-parts.tsx";
import { isSamePrice } from "../plans/plan-terms.ts";
import { EditProblem } from "./edit-problem.tsx";
import { FeatureFields } from "./feature-form.tsx";
import { type FeatureValues, toBody, valuesOf } from "./feature-values.ts";
import { type Feature, featureQuery, refreshCatalog } from "./queries.ts";

/** One feature: to change for who may, to read for who may not. */
export function FeatureDialog({ featureKey, onClose }: { featureKey: string; onClose: () => void }) {
  const { data: current } = useSuspenseQuery(featureQuery(usePlace(), featureKey));
  const mayEdit = useMayActAs("admin");
  // Held: what comes in behind it must not slip under what is being typed.
  const [opened, setOpened] = useState(current);
  const [isArchiving, setArchiving] = useState(false);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={opened.value.name}
      note={<span className="font-mono text-caption">{featureKey}</span>}
    >
      {!mayEdit ? (
        <FeatureDetails feature={current.value} />
      ) : isArchiving ? (
        <ArchiveFeature
          opened={opened}
          onReadAgain={setOpened}
          onBack={() => setArchiving(false)}
          onClose={onClose}
        />
      ) : (
        <EditFeatureForm
          opened={opened}
          onReadAgain={setOpened}
          onArchive={() => setArchiving(true)}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function EditFeatureForm({
  opened,
  onReadAgain,
  onArchive,
  onClose,
}: {
  opened: Tagged<Feature>;
  onReadAgain: (read: Tagged<Feature>) => void;
  onArchive: () => void;
  onClose: () => void;
}) {
  const place = usePlace();
  const { value: feature, etag } = opened;
  const { key } = feature;
  const form = useForm<FeatureValues>({ defaultValues: valuesOf(feature) });
  const values = { ...valuesOf(feature), ...useWatch({ control: form.control }) };
  const requestOf = (wanted: FeatureValues) => ({
    params: { path: { ...place, key }, header: { "if-match": etag } },
    body: toBody(wanted),
  });
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/features/{key}", {
    onSuccess: async (saved) => {
      await refreshCatalog();
      const [before, after] = [costInWords(feature.cost, feature.unit), costInWords(saved.cost, saved.unit)];
      tell(`${saved.name} is saved`, before === after ? undefined : `Cost: ${before} → ${after}.`);
      onClose();
    },
  });
  const isArchived = feature.archivedAt !== null;
  return (
    <WriteForm
      write={save}
      request={requestOf(values)}
      action="Save feature"
      noValidate
      problem={
        <EditProblem
          write={save}
          edited={{ actions: ["feature."], subject: key }}
          read={() => queryClient.fetchQuery(featureQuery(place, key))}
          onRead={(read) => {
            // What was typed stays; what was not is now as the other one left it.
            form.reset(valuesOf(read.value), { keepDirtyValues: true });
            onReadAgain(read);
          }}
          note="Reading again keeps the fields that you changed, and shows the others as they are now."
        />
      }
      actionsNote={
        <Button tone="quiet" icon={isArchived ? ArchiveRestore : Archive} onClick={onArchive}>
          {isArchived ? "Offer again" : "Archive"}
        </Button>
      }
      onSubmit={form.handleSubmit((wanted) => save.mutate(requestOf(wanted)))}
      onClose={onClose}
    >
      <FeatureFields form={form} isNew={false} />
      {!isSamePrice({ pool: values.pool, cost: values }, feature) && <CostChange feature={feature} />}
    </WriteForm>
  );
}

function ArchiveFeature({
  opened: { value: feature, etag },
  onReadAgain,
  onBack,
  onClose,
}: {
  opened: Tagged<Feature>;
  onReadAgain: (read: Tagged<Feature>) => void;
  onBack: () => void;
  onClose: () => void;
}) {
  const place = usePlace();
  const { key, name, usedBy } = feature;
  const body = { archived: feature.archivedAt === null };
  const request = { params: { path: { ...place, key }, header: { "if-match": etag } }, body };
  const archive = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/features/{key}/archive", {
    onSuccess: async () => {
      await refreshCatalog();
      tell(body.archived ? `${name} is archived` : `${name} is offered again`);
      onClose();
    },
  });
  return (
    <>
      {body.archived ? (
        <p>
          It can then be put into no further plan.{" "}
          {usedBy.length === 0 ? (
            "No plan includes it now."
          ) : (
            <>
              <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "keeps" : "keep"} it, and so does everybody
              on {usedBy.length === 1 ? "it" : "them"}, until a version without it is published.
            </>
          )}{" "}
          You can offer it again at any time.
        </p>
      ) : (
        <p>
          It can then be put into plans again. Nobody gets it before a plan that includes it is published.
        </p>
      )}
      <EditProblem
        write={archive}
        edited={{ actions: ["feature."], subject: key }}
        read={() => queryClient.fetchQuery(featureQuery(place, key))}
        onRead={onReadAgain}
      />
      <ApiCall call={archive.callOf(request)} />
      <DialogActions>
        <Button onClick={onBack}>Back</Button>
        <Button
          tone={body.archived ? "danger" : "primary"}
          isBusy={archive.isPending}
          onClick={() => archive.mutate(request)}
        >
          {inEnvironment(body.archived ? "Archive feature" : "Offer feature again", place.environment)}
        </Button>
      </DialogActions>
    </>
  );
}

function FeatureDetails({ feature }: { feature: Feature }) {
  const { cost, unit, pool: poolKey, usedBy, archivedAt } = feature;
  const pool = useNames(usePlace()).pool(poolKey);
  return (
    <>
      <Details
        items={[
          { name: "Cost", value: capitalize(costInWords(cost, unit)) },
          ...(pool === null ? [] : [{ name: "Pool", value: pool }]),
          { name: "Plans", value: usedBy.length === 0 ? "In no plan" : <PlanNames keys={usedBy} /> },
          ...(archivedAt === null ? [] : [{ name: "Archived", value: <Time at={archivedAt} /> }]),
        ]}
      />
      <Json label="the feature" value={feature} />
    </>
  );
}

/** What another cost does, before it is saved: less than one might fear, and less than one might hope. */
function CostChange({ feature: { usedBy } }: { feature: Feature }) {
  if (usedBy.length === 0)
    return (
      <Callout title="Nobody pays this yet">
        No plan includes the feature. The first one that does charges what it costs when that plan is
        published.
      </Callout>
    );
  return (
    <Callout tone="warn" title="Nobody is charged this yet">
      <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "has" : "have"} pinned what the feature cost when{" "}
      {usedBy.length === 1 ? "it was" : "they were"} published. The new cost takes effect with the next
      version of a plan that you publish.
    </Callout>
  );
}
