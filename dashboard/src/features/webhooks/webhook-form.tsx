import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type UseFormReturn, useForm } from "react-hook-form";
import { refresh, useWrite } from "../../api/use-write.ts";
import { NOTICE_GROUPS, NOTICE_TYPES } from "../../format/notices.ts";
import { useScope } from "../../frame/use-scope.ts";
import { DocsLink, LinkButton } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, TextField } from "../../ui/field.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { notify } from "../../ui/toast.tsx";
import { WEBHOOKS_PATH, type Webhook } from "./queries.ts";
import { ALL_TYPES, formOf, nameOfWebhook, toCreation, toPatch, type WebhookForm } from "./webhook.ts";

const URL_EXAMPLE = "https://api.example.com/purser";

/** Creates a webhook, shows its secret once, and then opens its page. */
export function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const scope = useScope();
  const navigate = useNavigate();
  const form = useForm<WebhookForm>({ defaultValues: formOf(null) });
  const wanted = form.watch();
  const create = useWrite("post", WEBHOOKS_PATH, { onSuccess: () => refresh("webhooks") });
  const requestOf = (values: WebhookForm) => ({ params: { path: scope }, body: toCreation(values) });
  if (create.data !== undefined) {
    const { webhook, secret } = create.data;
    return (
      <WebhookSecret
        webhook={webhook}
        secret={secret}
        onClose={() => {
          onClose();
          void navigate({
            to: "/projects/$projectId/$environment/webhooks/$webhookId",
            params: { ...scope, webhookId: webhook.id },
          });
        }}
      />
    );
  }
  return (
    <WriteDialog
      title="Create webhook"
      isWide
      write={create}
      request={requestOf({ ...wanted, url: wanted.url || URL_EXAMPLE })}
      action="Create webhook"
      isDisabled={wanted.types.length === 0}
      onSubmit={form.handleSubmit((values) => create.mutate(requestOf(values)))}
      onClose={onClose}
    >
      <Fields form={form} />
    </WriteDialog>
  );
}

export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const scope = useScope();
  const form = useForm<WebhookForm>({ defaultValues: formOf(webhook) });
  const wanted = form.watch();
  const save = useWrite("patch", `${WEBHOOKS_PATH}/{id}`, {
    onSuccess: async (saved) => {
      await refresh("webhooks");
      notify(`Edited ${nameOfWebhook(saved)}`);
      onClose();
    },
  });
  const requestOf = (values: WebhookForm) => ({
    params: { path: { ...scope, id: webhook.id } },
    body: toPatch(values, webhook),
  });
  const isChanged = Object.keys(toPatch(wanted, webhook)).length > 0;
  return (
    <WriteDialog
      title="Edit webhook"
      isWide
      write={save}
      request={isChanged ? requestOf(wanted) : null}
      action="Save webhook"
      isDisabled={wanted.types.length === 0 || !isChanged}
      onSubmit={form.handleSubmit((values) => save.mutate(requestOf(values)))}
      onClose={onClose}
    >
      <Fields form={form} />
    </WriteDialog>
  );
}

function Fields({ form: { register, watch, setValue } }: { form: UseFormReturn<WebhookForm> }) {
  const types = watch("types");
  const isAll = types.length === ALL_TYPES.length;
  return (
    <>
      <TextField
        label="URL"
        type="url"
        hint="Your endpoint. It must respond with 2xx within 10 seconds."
        placeholder={URL_EXAMPLE}
        autoComplete="off"
        spellCheck={false}
        required
        maxLength={2_000}
        isMono
        {...register("url")}
      />
      <TextField
        label="Description"
        hint="Optional. What the endpoint does."
        placeholder="Low balance emails"
        autoComplete="off"
        maxLength={255}
        {...register("description")}
      />
      <fieldset className="flex flex-col gap-3">
        <legend className="text-form font-medium">Types</legend>
        <p className="flex flex-wrap justify-between gap-x-4 text-caption text-muted">
          The webhook receives these notices.
          <LinkButton onClick={() => setValue("types", isAll ? [] : [...ALL_TYPES], { shouldDirty: true })}>
            {isAll ? "Clear all" : "Select all"}
          </LinkButton>
        </p>
        <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          {NOTICE_GROUPS.map((group) => (
            <fieldset key={group.name} className="flex flex-col gap-2">
              <legend className="mb-1.5 text-caption font-medium text-muted">{group.name}</legend>
              {group.types.map((type) => (
                <Checkbox
                  key={type}
                  label={
                    <>
                      {NOTICE_TYPES[type].name}{" "}
                      <code className="font-mono text-caption text-muted">{type}</code>
                    </>
                  }
                  hint={NOTICE_TYPES[type].when}
                  value={type}
                  {...register("types")}
                />
              ))}
            </fieldset>
          ))}
        </div>
        {types.length === 0 && (
          <p role="alert" className="text-caption text-bad">
            Select at least one type.
          </p>
        )}
      </fieldset>
    </>
  );
}

/** Shows a new secret once. */
export function WebhookSecret({
  webhook,
  secret,
  note,
  onClose,
}: {
  webhook: Webhook;
  secret: string;
  note?: ReactNode;
  onClose: () => void;
}) {
  return (
    <SecretOnce
      title={`Signing secret for ${nameOfWebhook(webhook)}`}
      note={note}
      what="the secret"
      secret={secret}
      use={
        <>
          Your endpoint{" "}
          <DocsLink href="/docs/guides/webhooks#verify-a-signature">verifies deliveries</DocsLink> with it.
        </>
      }
      onClose={onClose}
    />
  );
}
