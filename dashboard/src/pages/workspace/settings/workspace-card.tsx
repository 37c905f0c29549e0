import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { useMayActAs } from "../../../frame/use-session.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Details } from "../../../ui/details.tsx";
import { TextField } from "../../../ui/field.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { tell } from "../../../ui/toast.tsx";
import { workspaceQuery } from "../queries.ts";
import {
  changesOf,
  describeChanges,
  describeLimit,
  LIMITS,
  toForm,
  type Workspace,
  type WorkspaceForm,
} from "./limits.ts";

export function WorkspaceCard() {
  const { data: workspace } = useSuspenseQuery(workspaceQuery);
  return (
    <Card title="Workspace" note="Its name, and the limits that hold for all of its projects, test and live.">
      {useMayActAs("owner") ? <Form workspace={workspace} /> : <Reading workspace={workspace} />}
    </Card>
  );
}

function Reading({ workspace: { name, limits } }: { workspace: Workspace }) {
  return (
    <div className="flex flex-col gap-4">
      <Details
        items={[
          { name: "Name", value: name },
          ...LIMITS.map((limit) => ({
            name: limit.label.split(",")[0] ?? limit.label,
            value: (
              <>
                {describeLimit(limit, limits)}
                <span className="block text-caption text-muted">{limit.hint}</span>
              </>
            ),
          })),
        ]}
      />
      <p className="text-caption text-muted">Only an owner changes these.</p>
    </div>
  );
}

function Form({ workspace }: { workspace: Workspace }) {
  const { register, handleSubmit, watch, reset } = useForm<WorkspaceForm>({
    values: toForm(workspace),
    // What somebody is typing stays, when another's change is read meanwhile.
    resetOptions: { keepDirtyValues: true },
  });
  const changes = changesOf(workspace, watch());
  const isSame = Object.keys(changes).length === 0;
  const save = useMutation({
    mutationFn: (form: WorkspaceForm) =>
      answerOf(api.PATCH("/manage/v1/workspace", { body: changesOf(workspace, form) })),
    onSuccess: (after) => {
      tell("Changed the workspace", describeChanges(workspace, after));
      queryClient.setQueryData(workspaceQuery.queryKey, after);
      reset(toForm(after));
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit((form) => {
        if (!isSame) save.mutate(form);
      })}
    >
      <div className="grid items-start gap-x-6 gap-y-4 md:grid-cols-2">
        <TextField
          label="Name"
          hint="Of the company that runs Purser here."
          required
          maxLength={120}
          autoComplete="off"
          {...register("name")}
        />
        {LIMITS.map(({ name, label, hint, min, max, isOptional }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            type="number"
            min={min}
            max={max}
            required={!isOptional}
            placeholder={isOptional ? "No limit" : ""}
            {...register(name)}
          />
        ))}
      </div>
      <ProblemCallout error={save.error} />
      <ApiCall call={{ method: "PATCH", path: "/manage/v1/workspace", body: changes }} />
      <div className="flex flex-wrap items-center justify-end gap-3">
        <span className="text-caption text-muted">Every process keeps to new limits within 5 seconds.</span>
        <Button type="submit" tone="primary" isBusy={save.isPending} isDisabled={isSame}>
          Save workspace
        </Button>
      </div>
    </form>
  );
}
