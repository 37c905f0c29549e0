import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Choices } from "../../ui/choices.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
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
  const scope = useScope();
  const [openedAt] = useState(Date.now);
  // Prefetch for the curl call beside the secret.
  useQuery(anyFeatureQuery(scope));
  const { register, handleSubmit, watch } = useForm<KeyForm>({
    defaultValues: {
      name: "",
      scopes: { check: true, consume: true, events: true, reverse: false },
      lasts: "",
    },
  });
  const wanted = watch();
  const hasScope = Object.values(wanted.scopes).some(Boolean);
  const create = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/api-keys", {
    onSuccess: () => refresh("api-keys"),
  });
  const requestOf = (form: KeyForm, now: number) => ({
    params: { path: scope },
    body: toKeyBody(form, now),
  });
  if (create.data !== undefined) {
    const { apiKey, secret } = create.data;
    return <KeySecret apiKey={apiKey} secret={secret} onClose={onClose} />;
  }
  return (
    <WriteDialog
      title="Create API key"
      write={create}
      request={requestOf(wanted, openedAt)}
      action="Create key"
      isDisabled={!hasScope}
      onSubmit={handleSubmit((form) => hasScope && create.mutate(requestOf(form, Date.now())))}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The service that uses the key."
        placeholder="Image rendering"
        autoComplete="off"
        required
        maxLength={120}
        {...register("name")}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1.5 text-form font-medium">Scopes</legend>
        {SCOPES.map(({ scope: name, hint }) => (
          <Checkbox key={name} label={name} hint={hint} {...register(`scopes.${name}`)} />
        ))}
        {!hasScope && (
          <p role="alert" className="text-caption text-bad">
            Select at least one scope.
          </p>
        )}
      </fieldset>
      <Select label="Expires" options={LASTING} {...register("lasts")} />
    </WriteDialog>
  );
}

const CAUSES = [
  { value: "leaked", name: "Yes, or possibly", note: "The old key stops working within 5 seconds." },
  { value: "routine", name: "No", note: "Both keys work until the old key expires." },
] as const;

/** Creates a new key with the same name. The old key stops working now if it was leaked, otherwise at the selected time. */
export function RotateKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const scope = useScope();
  const [openedAt] = useState(Date.now);
  useQuery(anyFeatureQuery(scope));
  const { register, handleSubmit, watch } = useForm<RotateForm>({
    defaultValues: { overlap: "86400", lasts: lastingOf(apiKey) },
  });
  const [cause, setCause] = useState<"leaked" | "routine" | null>(null);
  const isLeaked = cause === "leaked";
  const wanted = { ...watch(), ...(isLeaked ? { overlap: "0" } : {}) };
  const rotate = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/api-keys/{id}/rotate", {
    onSuccess: () => refresh("api-keys"),
  });
  const requestOf = (form: RotateForm, now: number) => ({
    params: { path: { ...scope, id: apiKey.id } },
    body: toRotateBody(form, now),
  });
  const old = `pur_${scope.environment}_…${apiKey.lastFour}`;
  if (rotate.data !== undefined) {
    const { apiKey: key, secret, replaced } = rotate.data;
    const note = (
      <>
        The old key {old} expires{" "}
        {replaced.expiresAt === null || wanted.overlap === "0" ? "now" : <Time at={replaced.expiresAt} />}.
      </>
    );
    return <KeySecret apiKey={key} secret={secret} note={note} onClose={onClose} />;
  }
  return (
    <WriteDialog
      title={`Rotate ${apiKey.name}`}
      note={old}
      write={rotate}
      request={cause === null ? null : requestOf(wanted, openedAt)}
      action={isLeaked ? "Rotate and revoke old key" : "Rotate key"}
      tone={isLeaked ? "danger" : "primary"}
      isDisabled={cause === null}
      onSubmit={handleSubmit(({ lasts }) => rotate.mutate(requestOf({ ...wanted, lasts }, Date.now())))}
      onClose={onClose}
    >
      <p>
        You get a new key with the same name and scopes. Retries stay safe, because idempotency keys do not
        depend on the API key.
      </p>
      <Choices
        label="Was the key leaked?"
        name="cause"
        choices={CAUSES}
        chosen={cause ?? ""}
        onChange={(event) => setCause(event.target.value === "leaked" ? "leaked" : "routine")}
      />
      {cause === "routine" && (
        <Select
          label="Old key expires"
          options={OVERLAPS}
          hint={<EndOfOld apiKey={apiKey} overlap={Number(wanted.overlap)} from={openedAt} />}
          {...register("overlap")}
        />
      )}
      <Select label="New key expires" options={LASTING} {...register("lasts")} />
    </WriteDialog>
  );
}

/** Shows when the old key stops working. Rotation never extends its lifetime. */
function EndOfOld({ apiKey, overlap, from }: { apiKey: ApiKey; overlap: number; from: number }) {
  if (overlap === 0) return "Requests that use the old key will be rejected, starting within 5 seconds.";
  const end = Math.min(from + overlap * 1_000, Date.parse(apiKey.expiresAt ?? "9999-12-31T00:00:00Z"));
  return (
    <>
      The old key works until <Time at={new Date(end).toISOString()} />.
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
  const scope = useScope();
  // The list may be minutes old, and the last use matters here.
  useEffect(() => void refresh("api-keys"), []);
  const shown = `pur_${scope.environment}_…${lastFour}`;
  const revoke = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/api-keys/{id}/revoke", {
    onSuccess: async () => {
      await refresh("api-keys");
      notify(`Revoked ${name}`, `Requests with ${shown} will be rejected within 5 seconds.`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Revoke ${name}`}
      write={revoke}
      request={{ params: { path: { ...scope, id } } }}
      wanted={name}
      action="Revoke key"
      tone="danger"
      onClose={onClose}
    >
      <p>
        Requests with <code className="font-mono">{shown}</code> will be rejected, starting within 5 seconds.
        This cannot be undone.{" "}
        {lastUsedAt === null ? (
          "The key has never been used."
        ) : (
          <>
            The key was last used <Time at={lastUsedAt} as="ago" />.
          </>
        )}{" "}
        If the key was not leaked, rotate it instead to avoid downtime.
      </p>
    </WriteDialog>
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
  const { data: feature = null } = useQuery(anyFeatureQuery(useScope()));
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
