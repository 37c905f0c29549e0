import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { projectsQuery } from "../../api/projects.ts";
import { queryClient } from "../../api/query-client.ts";
import { inEnvironment } from "../../format/environments.ts";
import { useSession } from "../../frame/use-session.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { tokenRoleChoices } from "../members/roles.ts";
import { tokensQuery } from "../workspace/queries.ts";
import {
  isEnvironment,
  LASTING,
  mayManageAccess,
  reachOf,
  reachOptions,
  type Token,
  type TokenForm,
  toTokenBody,
} from "./token-form.ts";

export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const { role } = useSession();
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const [openedAt] = useState(Date.now);
  const reaches = reachOptions(projects);
  const { register, handleSubmit, watch, getValues, setValue } = useForm<TokenForm>({
    defaultValues: {
      name: "",
      role: "operator",
      managesAccess: false,
      reach: reaches[0]?.value ?? "",
      lasts: "365",
      day: "",
    },
  });
  const wanted = watch();
  /** Within one environment an owner is no more than an admin, and is not offered. */
  function narrowRole(): void {
    const { reach, role: chosen } = getValues();
    if (reach !== "" && chosen === "owner") setValue("role", "admin");
  }
  const create = useMutation({
    mutationFn: (form: TokenForm) =>
      answerOf(api.POST("/manage/v1/tokens", { body: toTokenBody(form, Date.now()) })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  if (create.data !== undefined) {
    const { token, secret } = create.data;
    return (
      <SecretOnce
        title={`Token ${token.name}`}
        note={reachOf(token, projects)}
        what="the token"
        secret={secret}
        tryIt={tryOf(secret)}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Create management token"
      note="It ends when you are demoted or removed."
    >
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((form) => create.mutate(form))}>
        <TextField
          label="Name"
          hint="What uses it, so that you know whom you stop when you revoke it."
          placeholder="Billing webhook"
          autoComplete="off"
          required
          maxLength={120}
          {...register("name")}
        />
        <Select
          label="Reaches"
          options={reaches}
          hint="One environment is safer: a test script cannot touch live then."
          {...register("reach", { onChange: narrowRole })}
        />
        <Choices label="Role" choices={tokenRoleChoices(role, wanted.reach === "")} {...register("role")} />
        {mayManageAccess(wanted) && (
          <Checkbox
            label="Manages members and tokens"
            hint="Whoever has the secret can invite people, reset passwords and create tokens, up to its role."
            {...register("managesAccess")}
          />
        )}
        <Select label="Lasts" options={LASTING} {...register("lasts")} />
        {wanted.lasts === "day" && (
          <TextField
            label="Last day, by UTC"
            type="date"
            required
            min={new Date(openedAt).toISOString().slice(0, 10)}
            {...register("day")}
          />
        )}
        <ProblemCallout error={create.error} />
        <ApiCall call={{ method: "POST", path: "/manage/v1/tokens", body: toTokenBody(wanted, openedAt) }} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={create.isPending}>
            {buttonText(wanted.reach)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function buttonText(reach: string): string {
  const environment = reach.split("/")[1];
  return isEnvironment(environment)
    ? inEnvironment("Create token", environment)
    : "Create token for everything";
}

/** Every token may ask who it is. */
function tryOf(secret: string): string {
  return `curl '${window.location.origin}/manage/v1/session' \\\n  -H 'Authorization: Bearer ${secret}'`;
}

export function RevokeTokenDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const { id, name, lastFour, lastUsedAt, environment, managesAccess } = token;
  const revoke = useMutation({
    mutationFn: () => answerOf(api.POST("/manage/v1/tokens/{id}/revoke", { params: { path: { id } } })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey });
      tell(`Revoked ${name}`, `pur_mgmt_…${lastFour}: valid → revoked`);
      onClose();
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={`Revoke ${name}`}
      wanted={name}
      action={environment === null ? "Revoke token" : inEnvironment("Revoke token", environment)}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Whatever uses <code className="font-mono">pur_mgmt_…{lastFour}</code> is refused from its next call
          on, permanently.{" "}
          {lastUsedAt === null ? (
            "It was never used."
          ) : (
            <>
              It was last used <Time at={lastUsedAt} as="ago" />.
            </>
          )}
        </p>
        {managesAccess && <p>Tokens and links that were created with it end too.</p>}
        <ApiCall call={{ method: "POST", path: `/manage/v1/tokens/${id}/revoke` }} />
      </div>
    </ConfirmByTyping>
  );
}
