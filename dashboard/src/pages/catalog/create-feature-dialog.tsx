import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { costInWords, nameOfKey } from "../../words/terms.ts";
import { FeatureFields } from "./feature-fields.tsx";
import { type FeatureValues, newFeature, toBody } from "./feature-values.ts";
import { refreshCatalog } from "./queries.ts";

const HEADERS = { "if-none-match": "*" };

export function CreateFeatureDialog({
  prefilledKey,
  onClose,
}: {
  prefilledKey: string;
  onClose: () => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const form = useForm<FeatureValues>({ defaultValues: newFeature(prefilledKey, nameOfKey(prefilledKey)) });
  const values = { ...newFeature("", ""), ...useWatch({ control: form.control }) };
  const create = useMutation({
    mutationFn: (wanted: FeatureValues) =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/features/{key}", {
          params: { path: { ...place, key: wanted.key }, header: HEADERS },
          body: toBody(wanted),
        }),
      ),
    onSuccess: async ({ name, cost, unit }) => {
      await refreshCatalog(queryClient);
      tell(
        `${name} is defined`,
        `It costs ${costInWords(cost, unit)}. Customers get it by a plan that includes it.`,
      );
      onClose();
    },
  });
  const isTaken = create.error instanceof ApiProblem && create.error.status === 412;
  return (
    <Dialog isOpen onClose={onClose} title="New feature" note="Something that a customer may do.">
      <form
        className="flex flex-col gap-4"
        noValidate
        onSubmit={form.handleSubmit((wanted) => {
          if (!create.isPending) create.mutate(wanted);
        })}
      >
        <FeatureFields form={form} isNew />
        {isTaken ? (
          <Callout tone="bad" title="There is a feature with this key already">
            <TextLink
              to="/projects/$projectId/$environment/features"
              params={place}
              search={{ key: create.variables?.key ?? "" }}
            >
              Look at it
            </TextLink>
            , or choose another key. Nothing was changed.
          </Callout>
        ) : (
          <ProblemCallout error={create.error} />
        )}
        <ApiCall
          call={{
            method: "PUT",
            path: pathIn(place, "features", values.key === "" ? "image.render" : values.key),
            headers: HEADERS,
            body: toBody(values),
          }}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={create.isPending}>
            {inEnvironment("Define feature", place.environment)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
