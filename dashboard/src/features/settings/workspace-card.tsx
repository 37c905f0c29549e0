import { useSuspenseQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import type { Answer, Body } from "../../api/answer.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { countOf, formatBytes, formatCount } from "../../format/numbers.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { notify } from "../../ui/toast.tsx";
import { workspaceQuery } from "../workspace/queries.ts";

export function WorkspaceCard() {
  const { data: workspace } = useSuspenseQuery(workspaceQuery);
  return (
    <Card title="Workspace" note="Limits apply to all projects and environments.">
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
      <p className="text-caption text-muted">Only owners can edit these settings.</p>
    </div>
  );
}

function Form({ workspace }: { workspace: Workspace }) {
  const { register, handleSubmit, watch, reset } = useForm<WorkspaceForm>({
    values: toForm(workspace),
    // Keep unsaved input when the data is refreshed.
    resetOptions: { keepDirtyValues: true },
  });
  const changes = changesOf(workspace, watch());
  const isSame = Object.keys(changes).length === 0;
  const save = useWrite("patch", "/manage/v1/workspace", {
    onSuccess: (after) => {
      notify("Saved workspace", describeChanges(workspace, after));
      queryClient.setQueryData(workspaceQuery.queryKey, after);
      reset(toForm(after));
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit((form) => {
        if (!isSame) save.mutate({ body: changesOf(workspace, form) });
      })}
    >
      <div className="grid items-start gap-x-6 gap-y-4 md:grid-cols-2">
        <TextField
          label="Name"
          hint="Your company or product."
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
      <div className="flex flex-wrap items-center justify-end gap-3">
        <span className="text-caption text-muted">Limits take effect within 5 seconds.</span>
        <PageCode call={save.callOf({ body: changes })} />
        <Button type="submit" tone="primary" isBusy={save.isPending} isDisabled={isSame}>
          Save workspace
        </Button>
      </div>
    </form>
  );
}

type Workspace = Answer<"readWorkspace">;
type Limits = Workspace["limits"];
type LimitName = keyof Limits;

type Limit = {
  readonly name: LimitName;
  readonly label: string;
  readonly hint: string;
  readonly min: number;
  readonly max: number;
  /** Empty means no limit. */
  readonly isOptional: boolean;
  readonly show: (value: number) => string;
};

const LIMITS: readonly Limit[] = [
  {
    name: "metadataBytesMax",
    label: "Metadata size, in bytes",
    hint: "Maximum per event or charge. Larger requests are rejected.",
    min: 0,
    max: 65_536,
    isOptional: false,
    show: formatBytes,
  },
  {
    name: "metadataKeysMax",
    label: "Metadata keys",
    hint: "Maximum number of keys, across all levels.",
    min: 0,
    max: 10_000,
    isOptional: false,
    show: formatCount,
  },
  {
    name: "metadataDepthMax",
    label: "Metadata depth",
    hint: "Maximum nesting depth. The top level is 1.",
    min: 1,
    max: 32,
    isOptional: false,
    show: formatCount,
  },
  {
    name: "historyDaysMax",
    label: "History window, in days",
    hint: "How far back data is shown and exported. Nothing is deleted.",
    min: 1,
    max: 36_500,
    isOptional: true,
    show: (days) => countOf(days, "day"),
  },
  {
    name: "requestsPerSecondMax",
    label: "Requests per second",
    hint: "Maximum per API key and service process. Further requests are rejected.",
    min: 1,
    max: 1_000_000,
    isOptional: true,
    show: (rate) => `${formatCount(rate)} a second`,
  },
];

/** Form values; an empty string means no limit. */
type WorkspaceForm = { name: string } & Record<LimitName, string>;

const textOf = (value: number | null): string => (value === null ? "" : String(value));

function toForm({ name, limits }: Workspace): WorkspaceForm {
  return {
    name,
    metadataBytesMax: textOf(limits.metadataBytesMax),
    metadataKeysMax: textOf(limits.metadataKeysMax),
    metadataDepthMax: textOf(limits.metadataDepthMax),
    historyDaysMax: textOf(limits.historyDaysMax),
    requestsPerSecondMax: textOf(limits.requestsPerSecondMax),
  };
}

/** Returns only changed fields, so that concurrent edits do not undo each other. */
function changesOf(before: Workspace, form: WorkspaceForm): Body<"changeWorkspace"> {
  const was = toForm(before);
  const limits = Object.fromEntries(
    LIMITS.filter(({ name }) => form[name].trim() !== was[name]).map(({ name }) => [
      name,
      form[name].trim() === "" ? null : Number(form[name]),
    ]),
  );
  const name = form.name.trim();
  return {
    ...(name === before.name ? {} : { name }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

function describeLimit({ name, show }: Limit, limits: Limits): string {
  const value = limits[name];
  return value === null ? "No limit" : show(value);
}

/** "History window, in days: no limit → 90 days". */
function describeChanges(before: Workspace, after: Workspace): string {
  const changes = LIMITS.filter(({ name }) => before.limits[name] !== after.limits[name]).map(
    (limit) =>
      `${limit.label.split(",")[0]}: ${describeLimit(limit, before.limits)} → ${describeLimit(limit, after.limits)}`,
  );
  const renamed = before.name === after.name ? [] : [`${before.name} → ${after.name}`];
  return [...renamed, ...changes].join("; ");
}
