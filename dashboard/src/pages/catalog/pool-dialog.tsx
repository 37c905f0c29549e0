import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { nameOfKey } from "../../words/terms.ts";
import { KEY_HINT, KEY_PATTERN } from "./feature-values.ts";
import { type Pool, poolsQuery, refreshCatalog } from "./queries.ts";
import { WriteDialog } from "./write-dialog.tsx";

/** Makes a pool, or gives one another name. Null: a new one. */
export function PoolDialog({ pool, onClose }: { pool: Pool | null; onClose: () => void }) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const { data: pools } = useSuspenseQuery(poolsQuery(place));
  const { register, handleSubmit, control, setValue, formState } = useForm<Pool>({
    defaultValues: pool ?? { key: "", name: "" },
  });
  const { errors, dirtyFields } = formState;
  const values = { key: "", name: "", ...useWatch({ control }) };
  const save = useMutation({
    mutationFn: ({ key, name }: Pool) =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/pools/{key}", {
          params: { path: { ...place, key } },
          body: { name: name.trim() },
        }),
      ),
    onSuccess: async ({ name }) => {
      await refreshCatalog(queryClient);
      tell(
        pool === null ? `The pool ${name} is made` : "The pool is renamed",
        pool === null ? undefined : `${pool.name} → ${name}.`,
      );
      onClose();
    },
  });
  return (
    <WriteDialog
      title={pool === null ? "New pool" : `Rename ${pool.name}`}
      action={inEnvironment(pool === null ? "Make pool" : "Rename pool", place.environment)}
      isBusy={save.isPending}
      problem={<ProblemCallout error={save.error} />}
      call={{
        method: "PUT",
        path: pathIn(place, "pools", values.key === "" ? "video" : values.key),
        body: { name: values.name.trim() },
      }}
      onConfirm={() => void handleSubmit((wanted) => save.mutate(wanted))()}
      onClose={onClose}
    >
      {pool === null && (
        <TextField
          label="Key"
          hint={KEY_HINT}
          error={errors.key?.message}
          isMono
          autoComplete="off"
          spellCheck={false}
          maxLength={120}
          {...register("key", {
            required: "This is needed.",
            pattern: KEY_PATTERN,
            validate: (key) =>
              pools.some((known) => known.key === key) ? "There is a pool with this key already." : undefined,
            onChange: ({ target }) => {
              if (dirtyFields.name !== true) setValue("name", nameOfKey(target.value));
            },
          })}
        />
      )}
      <TextField
        label="Name"
        error={errors.name?.message}
        autoComplete="off"
        maxLength={120}
        {...register("name", { validate: (name) => (name.trim() === "" ? "This is needed." : undefined) })}
      />
      {pool === null && (
        <p className="text-muted">
          Its credits can be spent only on features that draw from it. It cannot be deleted later.
        </p>
      )}
    </WriteDialog>
  );
}
