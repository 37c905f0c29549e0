import { useMutation } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import type { Body } from "../../../api/answer.ts";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { useSession } from "../../../frame/use-session.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { Button } from "../../../ui/button.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { membersQuery } from "../queries.ts";
import { roleChoices } from "../roles.ts";
import { MadeLink } from "./made-link.tsx";

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { role } = useSession();
  const { register, handleSubmit, watch } = useForm<Body<"inviteMember">>({
    defaultValues: { name: "", email: "", role: "viewer" },
  });
  const invite = useMutation({
    mutationFn: (body: Body<"inviteMember">) => answerOf(api.POST("/manage/v1/members", { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: membersQuery.queryKey }),
  });
  if (invite.data !== undefined) return <MadeLink made={invite.data} onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Invite member"
      note="You get a link to send to them. It works once, for a week."
    >
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => invite.mutate(body))}>
        <TextField
          label="Name"
          autoComplete="off"
          required
          maxLength={120}
          {...register("name", { required: true })}
        />
        <TextField
          label="Email"
          type="email"
          autoComplete="off"
          hint="What they log in with."
          required
          {...register("email", { required: true })}
        />
        <Choices label="Role" choices={roleChoices(role)} {...register("role")} />
        <ProblemCallout error={invite.error} />
        <ApiCall call={{ method: "POST", path: "/manage/v1/members", body: watch() }} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={invite.isPending}>
            Make invitation link
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
