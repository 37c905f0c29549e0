import { useMutation } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import type { Body } from "../../../api/answer.ts";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { useSession } from "../../../frame/use-session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { TextField } from "../../../ui/field.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { tell } from "../../../ui/toast.tsx";
import { sessionsQuery } from "../queries.ts";

export function PasswordCard() {
  const { email } = useSession();
  const { register, handleSubmit, reset } = useForm<Body<"changePassword">>({
    defaultValues: { current: "", new: "" },
  });
  const change = useMutation({
    mutationFn: (body: Body<"changePassword">) => answerOf(api.POST("/manage/v1/session/password", { body })),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      tell("Changed your password", "Your other sessions, and links made for you, have ended.");
      reset();
    },
  });
  return (
    // Where the menu under your name leads to.
    <div id="password" className="scroll-mt-6">
      <Card title="Your password" note={`Of ${email ?? "you"}. Your other sessions end with it.`}>
        <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => change.mutate(body))}>
          {/* So that a password manager knows whose it is. */}
          <input type="email" autoComplete="username" value={email ?? ""} readOnly hidden />
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            {...register("current")}
          />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            hint="At least 12 characters. Several unrelated words are best."
            required
            minLength={12}
            {...register("new")}
          />
          <ProblemCallout error={change.error} />
          <div className="flex justify-end">
            <Button type="submit" tone="primary" isBusy={change.isPending}>
              Change password
            </Button>
          </div>
        </form>
      </Card>
    </div>
  );
}
