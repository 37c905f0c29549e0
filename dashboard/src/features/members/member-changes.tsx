import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { mayActAs, type Role, sessionQuery } from "../../api/session.ts";
import { useSession } from "../../frame/use-session.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { membersQuery } from "../workspace/queries.ts";
import { type Member, nameOfRole, roleChoices } from "./roles.ts";
import { WhatEnds } from "./what-ends.tsx";

type Form = { name: string; role: Role };

export function EditMemberDialog({
  member,
  isLastOwner,
  onClose,
}: {
  member: Member;
  isLastOwner: boolean;
  onClose: () => void;
}) {
  const me = useSession();
  const { id } = member;
  const { register, handleSubmit, watch } = useForm<Form>({
    defaultValues: { name: member.name, role: member.role },
  });
  const wanted = watch();
  const isDemotion = !mayActAs(wanted.role, member.role);
  const [revoked, setRevoked] = useState<readonly string[]>([]);
  const bodyOf = (form: Form) => ({
    ...changesOf(member, form),
    ...(isDemotion && revoked.length > 0 ? { revokeApiKeys: [...revoked] } : {}),
  });
  const save = useMutation({
    mutationFn: (form: Form) =>
      answerOf(api.PATCH("/manage/v1/members/{id}", { params: { path: { id } }, body: bodyOf(form) })),
    onSuccess: async (after) => {
      await queryClient.invalidateQueries({ queryKey: membersQuery.queryKey });
      if (me.id === id) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      tell(`Changed ${after.name}`, describeChange(member, after));
      onClose();
    },
  });
  return (
    <Dialog isOpen onClose={onClose} title={`Change ${member.name}`} note={member.email}>
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((form) => save.mutate(form))}>
        <TextField label="Name" autoComplete="off" required maxLength={120} {...register("name")} />
        {isLastOwner ? (
          <Callout title="The only owner stays an owner">
            Make somebody else an owner first. An invitation counts once it is accepted.
          </Callout>
        ) : (
          <Choices label="Role" choices={roleChoices(me.role)} {...register("role")} />
        )}
        {me.id === id && isDemotion && (
          <Callout tone="warn" title="This is you">
            You are logged out at once. As {nameOfRole(wanted.role)} you cannot take it back yourself.
          </Callout>
        )}
        {isDemotion && member.status === "active" && (
          <WhatEnds memberId={id} revoked={revoked} onRevoke={setRevoked} />
        )}
        <ProblemCallout error={save.error} />
        <ApiCall call={{ method: "PATCH", path: `/manage/v1/members/${id}`, body: bodyOf(wanted) }} />
        <DialogActions
          note={isDemotion ? "They have to log in again." : "A role counts from their next call on."}
        >
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={save.isPending}>
            {isDemotion ? `Demote to ${nameOfRole(wanted.role)}` : "Save"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function changesOf(before: Member, { name, role }: Form): Partial<Form> {
  return { ...(name === before.name ? {} : { name }), ...(role === before.role ? {} : { role }) };
}

function describeChange(before: Form, after: Form): string {
  const changes = [
    before.name === after.name ? null : `${before.name} → ${after.name}`,
    before.role === after.role ? null : `${nameOfRole(before.role)} → ${nameOfRole(after.role)}`,
  ].filter((change) => change !== null);
  return changes.length === 0 ? "Nothing was different." : changes.join(", ");
}

export function RemoveMemberDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const me = useSession();
  const { id, name, email, status } = member;
  const isInvited = status === "invited";
  const [revoked, setRevoked] = useState<readonly string[]>([]);
  const remove = useMutation({
    mutationFn: () => {
      const query = revoked.length === 0 ? {} : { revokeApiKeys: revoked.join(",") };
      return answerOf(api.DELETE("/manage/v1/members/{id}", { params: { path: { id }, query } }));
    },
    onSuccess: async () => {
      tell(isInvited ? `Withdrew the invitation of ${name}` : `Removed ${name}`, email);
      onClose();
      const key = me.id === id ? sessionQuery.queryKey : membersQuery.queryKey;
      await queryClient.invalidateQueries({ queryKey: key });
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={isInvited ? `Withdraw the invitation of ${name}` : `Remove ${name}`}
      wanted={email}
      action={isInvited ? "Withdraw invitation" : "Remove member"}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    >
      <div className="flex flex-col gap-3">
        {me.id === id && (
          <Callout tone="warn" title="This is you">
            You are signed out at once, and somebody else has to invite you again.
          </Callout>
        )}
        {isInvited ? (
          <p>Their link ends at once. You can invite them again.</p>
        ) : (
          <>
            <WhatEnds memberId={id} revoked={revoked} onRevoke={setRevoked} />
            <p className="text-muted">What they did stays in the audit log.</p>
          </>
        )}
        <ApiCall
          call={{
            method: "DELETE",
            path: `/manage/v1/members/${id}${revoked.length === 0 ? "" : `?revokeApiKeys=${revoked.join(",")}`}`,
          }}
        />
      </div>
    </ConfirmByTyping>
  );
}
