import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { inEnvironment } from "../../format/environments.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import {
  type KeyForm,
  keyCall,
  LASTING,
  lastingOf,
  OVERLAPS,
  type RotateForm,
  SCOPES,
  toKeyBody,
  toRotateBody,
} from "./api-key.ts";
import { type ApiKey, anyFeatureQuery } from "./queries.ts";

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

export function RevokeKeyDialog({
  apiKey: { id, name, lastFour, lastUsedAt },
  onClose,
}: {
  apiKey: ApiKey;
  onClose: () => void;
}) {
  const place = usePlace();
  const shown = `pur_${place.environment}_…${lastFour}`;
  const revoke = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/api-keys/{id}/revoke", {
          params: { path: { ...place, id } },
        }),
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["api-keys", place] });
      tell(`Revoked ${name}`, `${shown}: working → revoked`);
      onClose();
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={`Revoke ${name}`}
      wanted={name}
      action={inEnvironment("Revoke key", place.environment)}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Whatever calls with <code className="font-mono">{shown}</code> is refused within 5 seconds, for
          ever.{" "}
          {lastUsedAt === null ? (
            "It was never used."
          ) : (
            <>
              It was last used <Time at={lastUsedAt} as="ago" />.
            </>
          )}{" "}
          To change over without a gap, rotate it instead.
        </p>
        <ApiCall
          call={{
            method: "POST",
            path: `/manage/v1/projects/${place.projectId}/${place.environment}/api-keys/${id}/revoke`,
          }}
        />
      </div>
    </ConfirmByTyping>
  );
}

function KeySecret({
  apiKey,
  secret,
  note,
  onClose,
}: {
  apiKey: ApiKey;
  secret: string;
  note?: ReactNode;
  onClose: () => void;
}) {
  const { data: feature = null } = useQuery(anyFeatureQuery(usePlace()));
  return (
    <SecretOnce
      title={`API key ${apiKey.name}`}
      note={note}
      what="the key"
      secret={secret}
      tryIt={keyCall(apiKey, { origin: window.location.origin, secret, feature })}
      onClose={onClose}
    />
  );
}
