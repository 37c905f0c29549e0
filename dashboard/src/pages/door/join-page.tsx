import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { comeIn } from "./come-in.ts";
import { Door } from "./door.tsx";
import { CutLink, isSpent, SpentLink } from "./link-problem.tsx";
import { takeLinkToken } from "./link-token.ts";

const TITLE = "Choose a password";

/** An invitation, or a new password: the link says who you are, you say what you will type from now on. */
export function JoinPage() {
  const [token] = useState(takeLinkToken);
  const navigate = useNavigate();
  const { register, handleSubmit } = useForm<{ password: string }>();
  const join = useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      answerOf(api.POST("/manage/v1/links", { body })),
    onSuccess: async (session) => {
      comeIn(session);
      await navigate({ to: "/" });
    },
  });
  if (token === null) return <CutLink title={TITLE} />;
  if (isSpent(join.error)) {
    return (
      <SpentLink
        title={TITLE}
        whatToDo="If it was you, log in with the password you chose. If not, ask an admin of your workspace: they make a new link under Members."
      />
    );
  }
  return (
    <Door title={TITLE} note="The link says who you are. With a password you come back without it.">
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit(({ password }) => join.mutate({ token, password }))}
      >
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters. Several unrelated words are best."
          required
          minLength={12}
          autoFocus
          {...register("password")}
        />
        <ProblemCallout error={join.error} />
        <Button type="submit" tone="primary" isBusy={join.isPending}>
          Save and come in
        </Button>
      </form>
    </Door>
  );
}
