import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, Link2, Mail, Pencil, UserRoundMinus, UserRoundPlus } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import type { Answer, Body } from "../../api/answer.ts";
import { mayActAs } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { nameOfCreator } from "../../format/creator.ts";
import { useMayActAs, useSession } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog, DialogActions, WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { MenuItem, MenuLabel, MenuSeparator, RowMenu } from "../../ui/menu.tsx";
import { Card, Details, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { membersQuery } from "../workspace/queries.ts";
import { EditMemberDialog, LINK_NAMES, RemoveMemberDialog } from "./member-changes.tsx";
import { describeRole, isLastOwner, type Member, nameOfRole, ROLES, roleChoices } from "./roles.ts";

type Open = { readonly action: MemberAction; readonly member: Member };

export function MembersPage() {
  const pages = useSuspenseInfiniteQuery(membersQuery);
  const members = pages.data.pages.flatMap(({ items }) => items);
  const mayManage = useMayActAs("admin");
  const [isInviting, setInviting] = useState(false);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const isLast = (member: Member): boolean => !pages.hasNextPage && isLastOwner(member, members);
  return (
    <Page
      title="Members"
      note="People with access to this workspace."
      actions={
        <>
          <PageCode json={{ label: "the members", value: members }} />
          {mayManage && (
            <Button tone="primary" icon={UserRoundPlus} onClick={() => setInviting(true)}>
              Invite member
            </Button>
          )}
        </>
      }
    >
      <Card flush>
        <ListTable
          label="Members"
          columns={columnsOf({ mayManage, isLast, onAct: setOpen })}
          rows={members}
          keyOf={({ id }) => id}
          pages={pages}
          what="members"
        />
      </Card>
      <Card title="Roles" note="Each role also has the permissions of the roles listed before it.">
        <Details items={ROLES.map(({ name, note }) => ({ name, value: note }))} />
      </Card>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {open?.action === "edit" && (
        <EditMemberDialog member={open.member} isLastOwner={isLast(open.member)} onClose={close} />
      )}
      {open?.action === "link" && <NewLinkDialog member={open.member} onClose={close} />}
      {open?.action === "remove" && <RemoveMemberDialog member={open.member} onClose={close} />}
    </Page>
  );
}

function columnsOf({
  mayManage,
  isLast,
  onAct,
}: {
  mayManage: boolean;
  isLast: (member: Member) => boolean;
  onAct: (open: Open) => void;
}): Column<Member>[] {
  return [
    {
      name: "Member",
      isWide: true,
      csv: ({ name }) => name,
      cell: (member) => <Name member={member} />,
    },
    csvColumn("Email", ({ email }) => email),
    {
      name: "Role",
      csv: ({ role }) => nameOfRole(role),
      cell: (member) => (
        <>
          <div>{nameOfRole(member.role)}</div>
          {isLast(member) && <div className="text-caption text-muted">The only owner</div>}
        </>
      ),
    },
    {
      name: "Created",
      hidesBelow: "md",
      csv: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
    {
      isShown: mayManage,
      name: "Actions",
      isActions: true,
      cell: (member: Member) => (
        <MemberMenu
          member={member}
          isLastOwner={isLast(member)}
          onAct={(action) => onAct({ action, member })}
        />
      ),
    },
  ];
}

function Name({ member }: { member: Member }) {
  const me = useSession();
  const { id, name, email, status } = member;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="text-form font-medium wrap-anywhere">{name}</span>
        {me.kind === "member" && me.id === id && <Badge tone="accent">You</Badge>}
        {status === "invited" && <Badge tone="warn">Invited</Badge>}
      </div>
      <div className="text-caption text-muted wrap-anywhere">{email}</div>
      <OpenLink member={member} />
    </>
  );
}

/** Shows who created an open link, because a link grants access like a password. */
function OpenLink({ member: { status, openLink } }: { member: Member }) {
  if (openLink === null) {
    return status === "invited" && <div className="text-caption text-warn">Invitation link expired</div>;
  }
  return (
    <div className="text-caption text-muted wrap-anywhere">
      {LINK_NAMES[openLink.purpose]} created by {nameOfCreator(openLink.createdBy)}, expires{" "}
      <Time at={openLink.expiresAt} as="day" />
    </div>
  );
}

type MemberAction = "edit" | "link" | "remove";

function MemberMenu({
  member,
  isLastOwner,
  onAct,
}: {
  member: Member;
  isLastOwner: boolean;
  onAct: (action: MemberAction) => void;
}) {
  const { role } = useSession();
  // Members cannot change members with higher roles. A password reset link would let them take over such an account.
  if (!mayActAs(role, member.role))
    return <span className="text-caption text-muted">Only owners can edit</span>;
  const isInvited = member.status === "invited";
  return (
    <RowMenu label={`Actions for ${member.name}`}>
      <MenuItem icon={Pencil} onClick={() => onAct("edit")}>
        Edit
      </MenuItem>
      <MenuItem icon={isInvited ? Link2 : KeyRound} onClick={() => onAct("link")}>
        {isInvited ? "Create new invitation link" : "Create password reset link"}
      </MenuItem>
      <MenuSeparator />
      {isLastOwner ? (
        <MenuLabel>
          <p className="max-w-52">The only owner cannot be removed. Add another owner first.</p>
        </MenuLabel>
      ) : (
        <MenuItem icon={UserRoundMinus} isDangerous onClick={() => onAct("remove")}>
          {isInvited ? "Delete invitation" : "Remove member"}
        </MenuItem>
      )}
    </RowMenu>
  );
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  const { role } = useSession();
  const { register, handleSubmit, watch } = useForm<Body<"inviteMember">>({
    defaultValues: { name: "", email: "", role: "viewer" },
  });
  const invite = useWrite("post", "/manage/v1/members", { onSuccess: () => refresh("members") });
  if (invite.data !== undefined) return <MadeLink made={invite.data} onClose={onClose} />;
  return (
    <WriteDialog
      title="Invite member"
      note="You get a link to send. It expires after one use or 7 days."
      write={invite}
      request={{ body: watch() }}
      action="Create invitation link"
      onSubmit={handleSubmit((body) => invite.mutate({ body }))}
      onClose={onClose}
    >
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
        hint="The member logs in with this email."
        required
        {...register("email", { required: true })}
      />
      <Choices label="Role" choices={roleChoices(role)} {...register("role")} />
    </WriteDialog>
  );
}

/** Replaces a lost invitation or resets a password. */
function NewLinkDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name, status } = member;
  const isInvited = status === "invited";
  const renew = useWrite("post", "/manage/v1/members/{id}/link");
  if (renew.data !== undefined) return <MadeLink made={renew.data} onClose={onClose} />;
  return (
    <WriteDialog
      title={isInvited ? `New invitation for ${name}` : `Password reset link for ${name}`}
      write={renew}
      request={{ params: { path: { id } } }}
      action={isInvited ? "Create invitation link" : "Create password reset link"}
      onClose={onClose}
    >
      <p>
        {isInvited
          ? "The link expires after one use or 7 days. Older links stop working."
          : "The link expires after one use or 24 hours. The old password works until it is replaced. Older links stop working."}
      </p>
    </WriteDialog>
  );
}

/** Shows a created link, which the user has to send. */
function MadeLink({
  made: { member, link },
  onClose,
}: {
  made: Answer<"inviteMember">;
  onClose: () => void;
}) {
  const isInvitation = member.status === "invited";
  const address = `${window.location.origin}${link.path}`;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={isInvitation ? `Invitation for ${member.name}` : `Password reset link for ${member.name}`}
      isSticky
      isWide
    >
      <CodeBlock label="the link" code={address} />
      <Details
        items={[
          { name: "For", value: `${member.name}, ${member.email}, as ${describeRole(member.role)}` },
          {
            name: "Valid until",
            value: (
              <>
                <Time at={link.expiresAt} /> (<Time at={link.expiresAt} as="ago" />
                ). Can be used once.
              </>
            ),
          },
        ]}
      />
      <Callout title="Copy the link and send it">
        Purser does not send email. Anyone with the link can log in as {member.name}. The link is shown only
        once.
      </Callout>
      <DialogActions
        note={
          isInvitation && (
            <a
              href={mailtoOf(member, address)}
              className="inline-flex items-center gap-1.5 font-medium text-accent underline-offset-2 hover:underline"
            >
              <Mail className="size-3.5" aria-hidden />
              Open in email app
            </a>
          )
        }
      >
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** An email with the invitation, for the user to send. */
function mailtoOf({ name, email }: Pick<Member, "name" | "email">, address: string): string {
  const text = "Open this link to join our Purser workspace. It can be used once and expires in 7 days.";
  const body = `Hello ${name},\r\n\r\n${text}\r\n\r\n${address}`;
  return `mailto:${encodeURIComponent(email)}?subject=${encodeURIComponent("Invitation to Purser")}&body=${encodeURIComponent(body)}`;
}
