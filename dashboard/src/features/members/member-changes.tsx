import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { FormProvider, useForm } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { includesRoles, type Roles } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useSession } from "../../frame/use-scope.ts";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, TextField } from "../../ui/field.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { memberAccessQuery } from "../workspace/queries.ts";
import { formOfRoles, RoleFields, type RolesForm, rolesOf } from "./role-fields.tsx";
import { describeProjectRole, describeRoles, type Member, nameOfRole } from "./roles.ts";

type Form = { name: string } & RolesForm;

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
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const form = useForm<Form>({ defaultValues: { name: member.name, ...formOfRoles(member) } });
  const { register, handleSubmit, watch } = form;
  const wanted = watch();
  const roles = rolesOf(wanted);
  const isDemotion = !includesRoles(roles, member);
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
      notify(`Saved ${after.name}`, describeChange(member, after, projects));
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Edit ${member.name}`}
      note={member.email}
      write={save}
      request={requestOf(wanted)}
      action={isDemotion ? nameOfDemotion(member, roles) : "Save"}
      actionsNote={isDemotion ? "They must log in again." : "Takes effect on their next request."}
      onSubmit={handleSubmit((form) => save.mutate(requestOf(form)))}
      onClose={onClose}
    >
      <TextField label="Name" autoComplete="off" required maxLength={120} {...register("name")} />
      {isLastOwner ? (
        <Callout title="The only owner cannot be demoted">
          Add another owner first. Pending invitations do not count.
        </Callout>
      ) : (
        <FormProvider {...form}>
          <RoleFields />
        </FormProvider>
      )}
      {me.id === id && isDemotion && (
        <Callout tone="warn" title="This is your account">
          You will be logged out. As {describeRoles(roles)}, you cannot undo this yourself.
        </Callout>
      )}
      {isDemotion && member.status === "active" && (
        <WhatEnds memberId={id} revoked={revoked} onRevoke={setRevoked} />
      )}
    </WriteDialog>
  );
}

function nameOfDemotion(before: Roles, { role }: Roles): string {
  return role === null || role === before.role ? "Reduce access" : `Demote to ${nameOfRole(role)}`;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function changesOf(before: Member, { name, ...form }: Form) {
  const { role, projectRoles } = rolesOf(form);
  const had = rolesOf(formOfRoles(before));
  return {
    ...(name === before.name ? {} : { name }),
    ...(role === before.role ? {} : { role }),
    ...(isSame(projectRoles, had.projectRoles) ? {} : { projectRoles }),
  };
}

type Saved = Answer<"changeMember">;

function describeChange(before: Member, after: Saved, projects: readonly Project[]): string {
  const nameOf = ({ role }: Saved): string => (role === null ? "Only some projects" : nameOfRole(role));
  const describe = (role: Member["projectRoles"][number]): string => describeProjectRole(role, projects);
  const changes = [
    before.name === after.name ? null : `${before.name} → ${after.name}`,
    before.role === after.role ? null : `${nameOf(before)} → ${nameOf(after)}`,
    isSame(before.projectRoles, after.projectRoles) ? null : after.projectRoles.map(describe).join(", "),
  ].filter((change) => change !== null && change !== "");
  return changes.length === 0 ? "No changes" : changes.join(", ");
}

export function RemoveMemberDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const me = useSession();
  const { id, name, email, status } = member;
  const isInvited = status === "invited";
  const [revoked, setRevoked] = useState<readonly string[]>([]);
  const remove = useWrite("delete", "/manage/v1/members/{id}", {
    onSuccess: async () => {
      notify(isInvited ? `Deleted the invitation for ${name}` : `Removed ${name}`, email);
      onClose();
      await refresh(me.id === id ? "session" : "members");
    },
  });
  return (
    <WriteDialog
      title={isInvited ? `Delete invitation for ${name}` : `Remove ${name}`}
      write={remove}
      request={{
        params: { path: { id }, query: revoked.length === 0 ? {} : { revokeApiKeys: revoked.join(",") } },
      }}
      wanted={email}
      action={isInvited ? "Delete invitation" : "Remove member"}
      tone="danger"
      onClose={onClose}
    >
      {me.id === id && (
        <Callout tone="warn" title="This is your account">
          You will be logged out. Another member must invite you again.
        </Callout>
      )}
      {isInvited ? (
        <p>The invitation link will stop working. You can invite them again.</p>
      ) : (
        <>
          <WhatEnds memberId={id} revoked={revoked} onRevoke={setRevoked} />
          <p className="text-muted">Their actions stay in the audit log.</p>
        </>
      )}
    </WriteDialog>
  );
}

type Access = Answer<"readMemberAccess">;

/** Access that a demotion or removal revokes. API keys keep working unless selected. */
function WhatEnds({
  memberId,
  revoked,
  onRevoke,
}: {
  memberId: string;
  /** IDs of API keys to revoke too. */
  revoked: readonly string[];
  onRevoke: (ids: readonly string[]) => void;
}) {
  const access = useQuery(memberAccessQuery(memberId));
  if (access.isError) return <ProblemCallout error={access.error} />;
  if (access.data === undefined) return <SkeletonRows rows={2} />;
  const { sessions, tokens, links, apiKeys } = access.data;
  return (
    <div className="flex flex-col gap-3">
      <Group title="Will be revoked immediately">
        {tokens.map((token) => (
          <Line key={token.id} name={`Token ${token.name}`} use={<LastUse at={token.lastUsedAt} />}>
            {nameOfRole(token.role)}, <span className="font-mono">…{token.lastFour}</span>
          </Line>
        ))}
        {links.map((link) => (
          <Line
            key={`${link.member.id}-${link.createdAt}`}
            name={`${LINK_NAMES[link.purpose]} for ${link.member.name}`}
            use="Not used yet"
          >
            {link.member.email}
          </Line>
        ))}
        {sessions.length > 0 && (
          <Line
            name={sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}
            use={<LastUse at={sessions[0]?.lastUsedAt ?? null} />}
          />
        )}
        {tokens.length + links.length + sessions.length === 0 && (
          <li className="px-3 py-2 text-muted">No sessions, links or management tokens.</li>
        )}
      </Group>
      {apiKeys.length > 0 && <ApiKeys apiKeys={apiKeys} revoked={revoked} onRevoke={onRevoke} />}
    </div>
  );
}

export const LINK_NAMES = {
  setup: "Setup link",
  invitation: "Invitation",
  password: "Password reset link",
  sign_in: "Login link",
} as const satisfies Record<Access["links"][number]["purpose"], string>;

function ApiKeys({
  apiKeys,
  revoked,
  onRevoke,
}: {
  apiKeys: Access["apiKeys"];
  revoked: readonly string[];
  onRevoke: (ids: readonly string[]) => void;
}) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  return (
    <Group title="API keys they created keep working. Select the ones to revoke.">
      {apiKeys.map(({ id, name, lastFour, lastUsedAt, projectId, environment }) => (
        <li key={id} className="px-3 py-2">
          <Checkbox
            label={name}
            hint={
              <>
                {projects.find((project) => project.id === projectId)?.name ?? `Project ${projectId}`},{" "}
                <span className="font-mono">
                  pur_{environment}_…{lastFour}
                </span>
                <span className="block">
                  <LastUse at={lastUsedAt} />
                </span>
              </>
            }
            checked={revoked.includes(id)}
            onChange={({ target }) =>
              onRevoke(target.checked ? [...revoked, id] : revoked.filter((one) => one !== id))
            }
          />
        </li>
      ))}
    </Group>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1">
      <h3 className="text-form font-medium">{title}</h3>
      <ul className="divide-y divide-line rounded-md border border-line">{children}</ul>
    </section>
  );
}

function Line({ name, use, children }: { name: string; use: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
      <div className="min-w-0">
        <div className="text-form wrap-anywhere">{name}</div>
        {children !== undefined && <div className="text-caption wrap-anywhere text-muted">{children}</div>}
      </div>
      <span className="text-caption text-muted">{use}</span>
    </li>
  );
}

function LastUse({ at }: { at: string | null }) {
  if (at === null) return "Never used";
  return (
    <>
      Last used <Time at={at} as="ago" />
    </>
  );
}
