import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useWrite } from "../../api/use-write.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { NEW_PASSWORD, TextField } from "../../ui/field.tsx";
import { AuthCard, isLinkInvalid, takeLinkToken, useSessionStart } from "./auth-card.tsx";

const route = getRouteApi("/setup");

const TITLE = "Set up Purser";

type Owner = { name: string; email: string; password: string };

/** Creates the first owner with the link from the service log. */
export function SetupPage() {
  const [token] = useState(takeLinkToken);
  const { isNeeded } = route.useLoaderData();
  const { register, handleSubmit } = useForm<Owner>();
  const setUp = useWrite("post", "/manage/v1/setup", { onSuccess: useSessionStart() });
  if (!isNeeded) {
    return (
      <AuthCard title={TITLE} note="Setup is complete.">
        <div className="flex flex-col">
          <ButtonLink to="/log-in" tone="primary">
            Log in
          </ButtonLink>
        </div>
      </AuthCard>
    );
  }
  if (token === null || isLinkInvalid(setUp.error)) {
    return (
      <AuthCard title={TITLE} note="This installation has no owner yet.">
        <Callout
          tone={token === null ? "plain" : "warn"}
          title={token === null ? "Open the setup link" : "This link is no longer valid"}
        >
          Find it in the service log: search for <code className="font-mono">/setup#</code>. Each start prints
          a new link, valid once for one day.
        </Callout>
      </AuthCard>
    );
  }
  return (
    <AuthCard title={TITLE} note="You become the owner. Purser sends no email.">
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit((owner) => setUp.mutate({ body: { ...owner, token } }))}
      >
        <TextField label="Your name" autoComplete="name" required autoFocus {...register("name")} />
        <TextField label="Email" type="email" autoComplete="username" required {...register("email")} />
        <TextField label="Password" {...NEW_PASSWORD} {...register("password")} />
        <ProblemCallout error={setUp.error} />
        <Button type="submit" tone="primary" isBusy={setUp.isPending}>
          Create owner
        </Button>
      </form>
    </AuthCard>
  );
}
