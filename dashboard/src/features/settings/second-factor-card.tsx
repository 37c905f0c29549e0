import { useSuspenseQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { queryClient } from "../../api/query-client.ts";
import type { Role } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Button, TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { Card } from "../../ui/page.tsx";
import { notify } from "../../ui/toast.tsx";
import { workspaceQuery } from "../workspace/queries.ts";
import { LogInAgain } from "./log-in-again.tsx";

type Required = Role | "nobody";

const CHOICES = [
  { value: "nobody", name: "Nobody", note: "Members can add passkeys themselves." },
  { value: "owner", name: "Owners", note: "Only owners must have a passkey." },
  { value: "admin", name: "Admins and owners", note: "Everyone who manages members, keys and plans." },
  { value: "operator", name: "Operators, admins and owners", note: "Everyone who can make changes." },
  { value: "viewer", name: "Everyone", note: "All members, including viewers." },
] as const satisfies readonly { value: Required; name: string; note: string }[];

/** The members who need a passkey in addition to the password. */
export function SecondFactorCard() {
  const { data: workspace } = useSuspenseQuery(workspaceQuery);
  const isOwner = useMayActAs("owner");
  return (
    <Card title="Second factor" note="Members who must use a passkey in addition to a password.">
      {isOwner ? <Form workspace={workspace} /> : <Reading workspace={workspace} />}
    </Card>
  );
}

const requiredIn = ({ secondFactor }: Answer<"readWorkspace">): Required =>
  secondFactor.requiredFrom ?? "nobody";

const nameOf = (required: Required): string =>
  CHOICES.find(({ value }) => value === required)?.name ?? required;

function Reading({ workspace }: { workspace: Answer<"readWorkspace"> }) {
  return (
    <div className="flex flex-col gap-4">
      <p>{nameOf(requiredIn(workspace))}</p>
      <p className="text-caption text-muted">Only owners can edit this setting.</p>
    </div>
  );
}

function Form({ workspace }: { workspace: Answer<"readWorkspace"> }) {
  const before = requiredIn(workspace);
  const { register, handleSubmit, watch } = useForm<{ required: Required }>({ values: { required: before } });
  const { required } = watch();
  const save = useWrite("patch", "/manage/v1/workspace", {
    onSuccess: async (after) => {
      queryClient.setQueryData(workspaceQuery.queryKey, after);
      notify("Saved second factor", `Required for: ${nameOf(requiredIn(after))}`);
      await refresh("passkeys", "sessions");
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit(({ required }) =>
        save.mutate({ body: { secondFactor: { requiredFrom: required === "nobody" ? null : required } } }),
      )}
    >
      <Choices label="Required for" choices={CHOICES} {...register("required")} />
      {required !== "nobody" && required !== before && (
        <Callout title="Sessions opened without a passkey will end">
          Members without a passkey must add one at their next login. Single sign-on and management tokens are
          not affected.
        </Callout>
      )}
      {isPasskeyMissing(save.error) ? (
        <Callout tone="warn" title="Add a passkey to your account first">
          Otherwise you could lock yourself out.{" "}
          <TextLink to="/workspace/settings/profile" hash="passkeys">
            Open your profile
          </TextLink>
        </Callout>
      ) : (
        <LogInAgain error={save.error} />
      )}
      <div className="flex justify-end">
        <Button type="submit" tone="primary" isBusy={save.isPending} isDisabled={required === before}>
          Save second factor
        </Button>
      </div>
    </form>
  );
}

function isPasskeyMissing(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "passkey_missing";
}
