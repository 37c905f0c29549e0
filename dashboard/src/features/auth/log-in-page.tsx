import { getRouteApi } from "@tanstack/react-router";
import { useForm } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { useWrite } from "../../api/use-write.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { TextField } from "../../ui/field.tsx";
import { AuthCard, useSessionStart } from "./auth-card.tsx";

const route = getRouteApi("/log-in");

export function LogInPage() {
  const { next } = route.useSearch();
  const { register, handleSubmit } = useForm<Body<"logIn">>();
  const logIn = useWrite("post", "/manage/v1/session", { onSuccess: useSessionStart(next) });
  return (
    <AuthCard title="Log in">
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => logIn.mutate({ body }))}>
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...register("email")}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          {...register("password")}
        />
        {isMismatch(logIn.error) ? (
          <Callout tone="bad" title="Wrong email or password" />
        ) : (
          <ProblemCallout error={logIn.error} />
        )}
        <Button type="submit" tone="primary" isBusy={logIn.isPending}>
          Log in
        </Button>
        <p className="text-caption text-muted">
          Forgot your password? An admin can create a reset link under Members.
        </p>
      </form>
    </AuthCard>
  );
}

/** The API does not say which of the two is wrong. */
function isMismatch(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "credentials_invalid";
}
