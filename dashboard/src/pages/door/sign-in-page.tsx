import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { comeIn } from "./come-in.ts";
import { Door } from "./door.tsx";
import { takeLinkToken } from "./link-token.ts";

/** A link that is good once. It takes a click, so that a program that only looks at links does not use it up. */
export function SignInPage() {
  const [token] = useState(takeLinkToken);
  const navigate = useNavigate();
  const signIn = useMutation({
    mutationFn: () => answerOf(api.POST("/manage/v1/links", { body: { token: token ?? "" } })),
    onSuccess: async (session) => {
      comeIn(session);
      await navigate({ to: "/" });
    },
  });
  return (
    <Door title="Sign in by link" note="It works once.">
      <div className="flex flex-col gap-4">
        <ProblemCallout error={signIn.error} />
        {signIn.isError ? (
          <ButtonLink to="/log-in">Log in with your password</ButtonLink>
        ) : (
          <Button tone="primary" isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
            Sign in
          </Button>
        )}
      </div>
    </Door>
  );
}
