import { useState } from "react";
import { useForm } from "react-hook-form";
import { refresh } from "../../api/query-client.ts";
import { mayActAs, type Role } from "../../api/session.ts";
import { useWrite } from "../../api/use-write.ts";
import { useSession } from "../../frame/use-session.ts";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { TextField } from "../../ui/field.tsx";
import { tell } from "../../ui/toast.tsx";
import { WriteDialog } from "../../ui/write-dialog.tsx";
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
  const requestOf = (form: Form) => ({
    params: { path: { id } },
    body: {
      ...changesOf(member, form),
      ...(isDemotion && revoked.length > 0 ? { revokeApiKeys: [...revoked] } : {}),
    },
  });
  const save = useWrite("patch", "/manage/v1/members/{id}", {
    onSuccess: async (after) => {
      await refresh("members");
      if (me.id === id) await refresh("session");
      tell(`Changed ${after.name}`, describeChange(member, after));
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Change ${member.name}`}
      note={member.email}
      write={save}
      request={requestOf(wanted)}
      action={isDemotion ? `Demote to ${nameOfRole(wanted.role)}` : "Save"}
      actionsNote={isDemotion ? "They have to log in again." : "A role counts from their next call on."}
      onSubmit={handleSubmit((form) => save.mutate(requestOf(form)))}
      onClose={onClose}
    >
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
    </WriteDialog>
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
  const remove = useWrite("delete", "/manage/v1/members/{id}", {
    onSuccess: async () => {
      tell(isInvited ? `Withdrew the invitation of ${name}` : `Removed ${name}`, email);
      onClose();
      await refresh(me.id === id ? "session" : "members");
    },
  });
  return (
    <WriteDialog
      title={isInvited ? `Withdraw the invitation of ${name}` : `Remove ${name}`}
      write={remove}
      request={{
        params: { path: { id }, query: revoked.length === 0 ? {} : { revokeApiKeys: revoked.join(",") } },
      }}
      wanted={email}
      action={isInvited ? "Withdraw invitation" : "Remove member"}
      tone="danger"
      onClose={onClose}
    >
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
    </WriteDialog>
  );
}
