import { useState } from "react";
import { useForm } from "react-hook-form";
import { useWrite } from "../../api/use-write.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { NEW_PASSWORD, TextField } from "../../ui/field.tsx";
import { AuthCard, isLinkInvalid, takeLinkToken, useSessionStart } from "./auth-card.tsx";

/** Accepts an invitation or resets a password. */
export function JoinPage() {
  return (
    <LinkPage
      title="Choose a password"
      note="You will log in with it from now on."
      spentHelp="Log in with your password, or ask an admin for a new link."
      action="Save and log in"
      hasPassword
    />
  );
}

/** Logs in with a one-time link. It takes a click, so that link previews do not use it up. */
export function SignInPage() {
  return (
    <LinkPage
      title="Sign in with a link"
      note="This link works once."
      spentHelp="Log in with your password. Each start of “purser dev” prints a new link."
      action="Sign in"
    />
  );
}

function LinkPage({
  title,
  note,
  spentHelp,
  action,
  hasPassword = false,
}: {
  title: string;
  note: string;
  /** What to do if the link was used or has expired. */
  spentHelp: string;
  action: string;
  hasPassword?: boolean;
}) {
  const [token] = useState(takeLinkToken);
  const { register, handleSubmit } = useForm<{ password?: string }>();
  const redeem = useWrite("post", "/manage/v1/links", { onSuccess: useSessionStart() });
  if (token === null || isLinkInvalid(redeem.error)) {
    return (
      <AuthCard title={title}>
        <div className="flex flex-col gap-4">
          {token === null ? (
            // Some mail and chat programs cut links at the #.
            <Callout tone="warn" title="This link is incomplete">
              The part after <code className="font-mono">#</code> is missing. Copy the whole link and open it
              again.
            </Callout>
          ) : (
            <Callout tone="warn" title="This link was already used or has expired">
              {spentHelp}
            </Callout>
          )}
          <ButtonLink to="/log-in">Log in</ButtonLink>
        </div>
      </AuthCard>
    );
  }
  return (
    <AuthCard title={title} note={note}>
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit((form) => redeem.mutate({ body: { token, ...form } }))}
      >
        {hasPassword && <TextField label="Password" {...NEW_PASSWORD} autoFocus {...register("password")} />}
        <ProblemCallout error={redeem.error} />
        <Button type="submit" tone="primary" isBusy={redeem.isPending}>
          {action}
        </Button>
      </form>
    </AuthCard>
  );
}
