import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { comeIn } from "./come-in.ts";
import { Door } from "./door.tsx";
import { CutLink, isSpent, SpentLink } from "./link-problem.tsx";
import { takeLinkToken } from "./link-token.ts";

const TITLE = "Sign in by link";

/** A link that is good once. It takes a click, so that a program that only looks at links does not use it up. */
export function SignInPage() {
  const [token] = useState(takeLinkToken);
  const navigate = useNavigate();
  const signIn = useMutation({
    mutationFn: (token: string) => answerOf(api.POST("/manage/v1/links", { body: { token } })),
    onSuccess: async (session) => {
      comeIn(session);
      await navigate({ to: "/" });
    },
  });
  if (token === null) return <CutLink title={TITLE} />;
  if (isSpent(signIn.error)) {
    return (
      <SpentLink
        title={TITLE}
        whatToDo="Log in with your password, or ask for a new link: each start of “purser dev” prints one."
      />
    );
  }
  return (
    <Door title={TITLE} note="This link is good once.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate(token);
        }}
      >
        <ProblemCallout error={signIn.error} />
        <Button type="submit" tone="primary" isBusy={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </Door>
  );
}
