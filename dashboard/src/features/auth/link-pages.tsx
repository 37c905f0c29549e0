import { useState } from "react";
import { useForm } from "react-hook-form";
import { useWrite } from "../../api/use-write.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { NEW_PASSWORD, TextField } from "../../ui/field.tsx";
import { AuthCard, CutLink, isSpent, SpentLink, takeLinkToken, useSessionStart } from "./auth-card.tsx";

const JOIN_TITLE = "Choose a password";

/** An invitation, or a new password: the link says who you are, you say what you will type from now on. */
export function JoinPage() {
  const [token] = useState(takeLinkToken);
  const { register, handleSubmit } = useForm<{ password: string }>();
  const join = useWrite("post", "/manage/v1/links", { onSuccess: useSessionStart() });
  if (token === null) return <CutLink title={JOIN_TITLE} />;
  if (isSpent(join.error)) {
    return (
      <SpentLink
        title={JOIN_TITLE}
        whatToDo="If it was you, log in with the password you chose. If not, ask an admin of your workspace: they make a new link under Members."
      />
    );
  }
  return (
    <AuthCard title={JOIN_TITLE} note="The link says who you are. With a password you come back without it.">
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit(({ password }) => join.mutate({ body: { token, password } }))}
      >
        <TextField label="Password" {...NEW_PASSWORD} autoFocus {...register("password")} />
        <ProblemCallout error={join.error} />
        <Button type="submit" tone="primary" isBusy={join.isPending}>
          Save and come in
        </Button>
      </form>
    </AuthCard>
  );
}

const SIGN_IN_TITLE = "Sign in by link";

/** A link that is good once. It takes a click, so that a program that only looks at links does not use it up. */
export function SignInPage() {
  const [token] = useState(takeLinkToken);
  const signIn = useWrite("post", "/manage/v1/links", { onSuccess: useSessionStart() });
  if (token === null) return <CutLink title={SIGN_IN_TITLE} />;
  if (isSpent(signIn.error)) {
    return (
      <SpentLink
        title={SIGN_IN_TITLE}
        whatToDo="Log in with your password, or ask for a new link: each start of “purser dev” prints one."
      />
    );
  }
  return (
    <AuthCard title={SIGN_IN_TITLE} note="This link is good once.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate({ body: { token } });
        }}
      >
        <ProblemCallout error={signIn.error} />
        <Button type="submit" tone="primary" isBusy={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </AuthCard>
  );
}
