import { useSuspenseQuery } from "@tanstack/react-query";
import { Archive, ArchiveRestore } from "lucide-react";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Tagged } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { capitalize, formatCost } from "../../format/terms.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall, Json } from "../../ui/code-block.tsx";
import { Dialog, DialogActions, WriteForm } from "../../ui/dialog.tsx";
import { Details } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { PlanNames, useNames } from "../plans/plan-parts.tsx";
import { isSamePrice } from "../plans/plan-terms.ts";
import { EditProblem } from "./edit-problem.tsx";
import { FeatureFields } from "./feature-form.tsx";
import { type FeatureValues, toBody, valuesOf } from "./feature-values.ts";
import { type Feature, featureQuery, refreshCatalog } from "./queries.ts";

/** Edits a feature, or shows it read-only. */
export function FeatureDialog({ featureKey, onClose }: { featureKey: string; onClose: () => void }) {
  const { data: current } = useSuspenseQuery(featureQuery(useScope(), featureKey));
  const mayEdit = useMayActAs("admin");
  // Frozen, so that a background refresh does not change the form.
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
  const scope = useScope();
  const { value: feature, etag } = opened;
  const { key } = feature;
  const form = useForm<FeatureValues>({ defaultValues: valuesOf(feature) });
  const values = { ...valuesOf(feature), ...useWatch({ control: form.control }) };
  const requestOf = (wanted: FeatureValues) => ({
    params: { path: { ...scope, key }, header: { "if-match": etag } },
    body: toBody(wanted),
  });
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/features/{key}", {
    onSuccess: async (saved) => {
      await refreshCatalog();
      const [before, after] = [formatCost(feature.cost, feature.unit), formatCost(saved.cost, saved.unit)];
      notify(`Saved ${saved.name}`, before === after ? undefined : `Cost: ${before} → ${after}`);
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
          read={() => queryClient.fetchQuery(featureQuery(scope, key))}
          onRead={(read) => {
            // Keep edited fields and reload all other fields.
            form.reset(valuesOf(read.value), { keepDirtyValues: true });
            onReadAgain(read);
          }}
          note="Reloading keeps your edited fields and updates the others."
        />
      }
      actionsNote={
        <Button tone="quiet" icon={isArchived ? ArchiveRestore : Archive} onClick={onArchive}>
          {isArchived ? "Restore" : "Archive"}
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
  const scope = useScope();
  const { key, name, usedBy } = feature;
  const body = { archived: feature.archivedAt === null };
  const request = { params: { path: { ...scope, key }, header: { "if-match": etag } }, body };
  const archive = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/features/{key}/archive", {
    onSuccess: async () => {
      await refreshCatalog();
      notify(body.archived ? `Archived ${name}` : `Restored ${name}`);
      onClose();
    },
  });
  return (
    <>
      {body.archived ? (
        <p>
          The feature can no longer be added to plans.{" "}
          {usedBy.length === 0 ? (
            "No plan includes this feature."
          ) : (
            <>
              <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "keeps" : "keep"} it until you publish a
              version without it.
            </>
          )}{" "}
          You can restore it at any time.
        </p>
      ) : (
        <p>
          The feature can be added to plans again. Customers get it when you publish a plan that includes it.
        </p>
      )}
      <EditProblem
        write={archive}
        edited={{ actions: ["feature."], subject: key }}
        read={() => queryClient.fetchQuery(featureQuery(scope, key))}
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
          {inEnvironment(body.archived ? "Archive feature" : "Restore feature", scope.environment)}
        </Button>
      </DialogActions>
    </>
  );
}

function FeatureDetails({ feature }: { feature: Feature }) {
  const { cost, unit, pool: poolKey, usedBy, archivedAt } = feature;
  const pool = useNames(useScope()).pool(poolKey);
  return (
    <>
      <Details
        items={[
          { name: "Cost", value: capitalize(formatCost(cost, unit)) },
          ...(pool === null ? [] : [{ name: "Pool", value: pool }]),
          { name: "Plans", value: usedBy.length === 0 ? "None" : <PlanNames keys={usedBy} /> },
          ...(archivedAt === null ? [] : [{ name: "Archived", value: <Time at={archivedAt} /> }]),
        ]}
      />
      <Json label="the feature" value={feature} />
    </>
  );
}

/** A new cost only takes effect when a plan is published. */
function CostChange({ feature: { usedBy } }: { feature: Feature }) {
  if (usedBy.length === 0)
    return (
      <Callout title="No effect yet">
        No plan includes this feature. Plans use the cost at the time they are published.
      </Callout>
    );
  return (
    <Callout tone="warn" title="No effect until you publish">
      <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "keeps" : "keep"} the old cost until you publish a
      new version.
    </Callout>
  );
}
