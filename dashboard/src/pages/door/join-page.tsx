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
import { takeLinkToken } from "./link-token.ts";

/** An invitation, or a new password: the link says who you are, you say what you will type from now on. */
export function JoinPage() {
  const [token] = useState(takeLinkToken);
  const navigate = useNavigate();
  const { register, handleSubmit } = useForm<{ password: string }>();
  const join = useMutation({
    mutationFn: ({ password }: { password: string }) =>
      answerOf(api.POST("/manage/v1/links", { body: { token: token ?? "", password } })),
    onSuccess: async (session) => {
      comeIn(session);
      await navigate({ to: "/" });
    },
  });
  return (
    <Door title="Choose a password" note="Then you are in.">
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => join.mutate(body))}>
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters. Long rather than clever."
          required
          minLength={10}
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
