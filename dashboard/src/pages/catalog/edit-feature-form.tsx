import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Archive, ArchiveRestore } from "lucide-react";
import { useForm, useWatch } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import type { Tagged } from "../../api/tagged.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { costInWords } from "../../words/terms.ts";
import { CostChange } from "./cost-change.tsx";
import { EditProblem } from "./edit-problem.tsx";
import { FeatureFields } from "./feature-fields.tsx";
import { type FeatureValues, toBody, valuesOf } from "./feature-values.ts";
import { isSamePrice } from "./other-prices.ts";
import { type Feature, featureQuery, refreshCatalog } from "./queries.ts";

export function EditFeatureForm({
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
  const queryClient = useQueryClient();
  const { value: feature, etag } = opened;
  const { key } = feature;
  const form = useForm<FeatureValues>({ defaultValues: valuesOf(feature) });
  const values = { ...valuesOf(feature), ...useWatch({ control: form.control }) };
  const headers = { "if-match": etag };
  const save = useMutation({
    mutationFn: (wanted: FeatureValues) =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/features/{key}", {
          params: { path: { ...place, key }, header: headers },
          body: toBody(wanted),
        }),
      ),
    onSuccess: async (saved) => {
      await refreshCatalog(queryClient);
      const [before, after] = [costInWords(feature.cost, feature.unit), costInWords(saved.cost, saved.unit)];
      tell(`${saved.name} is saved`, before === after ? undefined : `Cost: ${before} → ${after}.`);
      onClose();
    },
  });
  const readAgain = useMutation({
    mutationFn: () => queryClient.fetchQuery(featureQuery(place, key)),
    onSuccess: (read) => {
      // What was typed stays; what was not is now as the other one left it.
      form.reset(valuesOf(read.value), { keepDirtyValues: true });
      save.reset();
      onReadAgain(read);
    },
  });
  const isArchived = feature.archivedAt !== null;
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={form.handleSubmit((wanted) => {
        if (!save.isPending) save.mutate(wanted);
      })}
    >
      <FeatureFields form={form} isNew={false} />
      {!isSamePrice({ pool: values.pool, cost: values }, feature) && <CostChange feature={feature} />}
      <EditProblem
        error={save.error ?? readAgain.error}
        edited={{ actions: ["feature."], subject: key }}
        note="Reading again keeps the fields that you changed, and shows the others as they are now."
        isReading={readAgain.isPending}
        onReadAgain={() => readAgain.mutate()}
      />
      <ApiCall
        call={{ method: "PUT", path: pathIn(place, "features", key), headers, body: toBody(values) }}
      />
      <DialogActions
        note={
          <Button tone="quiet" icon={isArchived ? ArchiveRestore : Archive} onClick={onArchive}>
            {isArchived ? "Offer again" : "Archive"}
          </Button>
        }
      >
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" isBusy={save.isPending}>
          {inEnvironment("Save feature", place.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}
