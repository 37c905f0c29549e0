import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { projectsQuery } from "../../api/projects.ts";
import { refresh } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { useSession } from "../../frame/use-session.ts";
import { Choices } from "../../ui/choices.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { WriteDialog } from "../../ui/write-dialog.tsx";
import { tokenRoleChoices } from "../members/roles.ts";
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
  const create = useWrite("post", "/manage/v1/tokens", { onSuccess: () => refresh("tokens") });
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
    <WriteDialog
      title="Create management token"
      note="It ends when you are demoted or removed."
      write={create}
      request={{ body: toTokenBody(wanted, openedAt) }}
      action={buttonText(wanted.reach)}
      onSubmit={handleSubmit((form) => create.mutate({ body: toTokenBody(form, Date.now()) }))}
      onClose={onClose}
    >
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
    </WriteDialog>
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
  const revoke = useWrite("post", "/manage/v1/tokens/{id}/revoke", {
    onSuccess: async () => {
      await refresh("tokens");
      tell(`Revoked ${name}`, `pur_mgmt_…${lastFour}: valid → revoked`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Revoke ${name}`}
      write={revoke}
      request={{ params: { path: { id } } }}
      wanted={name}
      action={environment === null ? "Revoke token" : inEnvironment("Revoke token", environment)}
      tone="danger"
      onClose={onClose}
    >
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
    </WriteDialog>
  );
}
