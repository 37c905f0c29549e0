import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { nameOfKey } from "../../words/terms.ts";
import { type EventKey, refreshCatalog } from "./queries.ts";

type Values = { name: string; unit: string };

export function NameEventKeyDialog({
  eventKey: { key, name, unit },
  onClose,
}: {
  eventKey: EventKey;
  onClose: () => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const { register, handleSubmit, control, formState } = useForm<Values>({
    // A key that speaks for itself needs no more than Enter.
    defaultValues: { name: name ?? nameOfKey(key).slice(0, 120), unit: unit ?? "" },
  });
  const values = { name: "", unit: "", ...useWatch({ control }) };
  const save = useMutation({
    mutationFn: (wanted: Values) =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/event-keys/{key}", {
          params: { path: { ...place, key } },
          body: toBody(wanted),
        }),
      ),
    onSuccess: async (saved) => {
      await refreshCatalog(queryClient);
      tell(`${key} is called ${saved.name}`, name === null ? undefined : `Before: ${name}.`);
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={name === null ? "Name an event key" : "Rename an event key"}
      note={<span className="font-mono text-caption">{key}</span>}
    >
      <form
        className="flex flex-col gap-4"
        noValidate
        onSubmit={handleSubmit((wanted) => {
          if (!save.isPending) save.mutate(wanted);
        })}
      >
        <TextField
          label="Name"
          maxLength={120}
          autoComplete="off"
          error={formState.errors.name?.message}
          {...register("name", { validate: (text) => (text.trim() === "" ? "This is needed." : undefined) })}
        />
        <TextField
          label="Unit"
          hint="What is counted, in the singular. May stay empty."
          placeholder="token"
          maxLength={60}
          autoComplete="off"
          {...register("unit")}
        />
        <ProblemCallout error={save.error} />
        <ApiCall call={{ method: "PUT", path: pathIn(place, "event-keys", key), body: toBody(values) }} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={save.isPending}>
            {inEnvironment("Save name", place.environment)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function toBody({ name, unit }: Values): Body<"putEventKey"> {
  return { name: name.trim(), unit: unit.trim() === "" ? null : unit.trim() };
}
