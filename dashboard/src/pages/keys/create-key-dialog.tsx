import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { type KeyForm, LASTING, SCOPES, toKeyBody } from "./key-form.ts";
import { KeySecret } from "./key-secret.tsx";
import { anyFeatureQuery } from "./queries.ts";

export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  const [openedAt] = useState(Date.now);
  // Read by the time it is needed, for the call beside the secret.
  useQuery(anyFeatureQuery(place));
  const { register, handleSubmit, watch } = useForm<KeyForm>({
    defaultValues: { name: "", scopes: { check: true, consume: true, events: true }, lasts: "" },
  });
  const wanted = watch();
  const hasScope = Object.values(wanted.scopes).some(Boolean);
  const create = useMutation({
    mutationFn: (form: KeyForm) =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/api-keys", {
          params: { path: place },
          body: toKeyBody(form, Date.now()),
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["api-keys", place] }),
  });
  if (create.data !== undefined) {
    const { apiKey, secret } = create.data;
    return <KeySecret apiKey={apiKey} secret={secret} onClose={onClose} />;
  }
  return (
    <Dialog isOpen onClose={onClose} title="Create API key">
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit((form) => hasScope && create.mutate(form))}
      >
        <TextField
          label="Name"
          hint="What uses it, so that you know what you stop when you revoke it."
          placeholder="Image rendering"
          autoComplete="off"
          required
          maxLength={120}
          {...register("name")}
        />
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1.5 text-form font-medium">May</legend>
          {SCOPES.map(({ scope, hint }) => (
            <Checkbox key={scope} label={scope} hint={hint} {...register(`scopes.${scope}`)} />
          ))}
          {!hasScope && (
            <p role="alert" className="text-caption text-bad">
              A key that may do nothing is no use: choose at least one.
            </p>
          )}
        </fieldset>
        <Select label="Lasts" options={LASTING} {...register("lasts")} />
        <ProblemCallout error={create.error} />
        <ApiCall
          call={{
            method: "POST",
            path: `/manage/v1/projects/${place.projectId}/${place.environment}/api-keys`,
            body: toKeyBody(wanted, openedAt),
          }}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={create.isPending} isDisabled={!hasScope}>
            {inEnvironment("Create key", place.environment)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
