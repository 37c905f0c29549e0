import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { Time } from "../../ui/time.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { LASTING, lastingOf, OVERLAPS, type RotateForm, toRotateBody } from "./key-form.ts";
import { KeySecret } from "./key-secret.tsx";
import { type ApiKey, anyFeatureQuery } from "./queries.ts";

/** A new secret under the same name; the old one goes on for a while, so that nothing stands still meanwhile. */
export function RotateKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const place = usePlace();
  const [openedAt] = useState(Date.now);
  useQuery(anyFeatureQuery(place));
  const { register, handleSubmit, watch } = useForm<RotateForm>({
    defaultValues: { overlap: "86400", lasts: lastingOf(apiKey) },
  });
  const wanted = watch();
  const rotate = useMutation({
    mutationFn: (form: RotateForm) =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/api-keys/{id}/rotate", {
          params: { path: { ...place, id: apiKey.id } },
          body: toRotateBody(form, Date.now()),
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["api-keys", place] }),
  });
  const old = `pur_${place.environment}_…${apiKey.lastFour}`;
  if (rotate.data !== undefined) {
    const { apiKey: key, secret, replaced } = rotate.data;
    const note = (
      <>
        The old one, {old}, ends{" "}
        {replaced.expiresAt === null || wanted.overlap === "0" ? "now" : <Time at={replaced.expiresAt} />}.
      </>
    );
    return <KeySecret apiKey={key} secret={secret} note={note} onClose={onClose} />;
  }
  return (
    <Dialog isOpen onClose={onClose} title={`Rotate ${apiKey.name}`} note={old}>
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((form) => rotate.mutate(form))}>
        <p>
          You get a new key with the same name and scopes. Put it where the old one is while both work.
          Retries are safe: an idempotency key belongs to the project, whichever API key it comes with.
        </p>
        <Select
          label="The old key goes on working"
          options={OVERLAPS}
          hint={<EndOfOld apiKey={apiKey} overlap={Number(wanted.overlap)} from={openedAt} />}
          {...register("overlap")}
        />
        <Select label="The new key lasts" options={LASTING} {...register("lasts")} />
        <ProblemCallout error={rotate.error} />
        <ApiCall
          call={{
            method: "POST",
            path: `/manage/v1/projects/${place.projectId}/${place.environment}/api-keys/${apiKey.id}/rotate`,
            body: toRotateBody(wanted, openedAt),
          }}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={rotate.isPending}>
            {inEnvironment("Rotate key", place.environment)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Never later than it would have ended anyway. */
function EndOfOld({ apiKey, overlap, from }: { apiKey: ApiKey; overlap: number; from: number }) {
  if (overlap === 0) return "Whatever still calls with it is refused within 5 seconds.";
  const end = Math.min(from + overlap * 1_000, Date.parse(apiKey.expiresAt ?? "9999-12-31T00:00:00Z"));
  return (
    <>
      Until <Time at={new Date(end).toISOString()} />. After that it is refused.
    </>
  );
}
