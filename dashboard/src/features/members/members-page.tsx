import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound, Link2, Pencil, ShieldOff, UserRoundMinus, UserRoundPlus } from "lucide-react";
import { useState } from "react";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { mayActAs } from "../../api/session.ts";
import { nameOfCreator } from "../../format/creator.ts";
import { useMayActAs, useSession } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { MenuItem, MenuLabel, MenuSeparator, RowMenu } from "../../ui/menu.tsx";
import { Card, Details, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { membersQuery } from "../workspace/queries.ts";
import { EditMemberDialog, LINK_NAMES, RemoveMemberDialog } from "./member-changes.tsx";
import { InviteDialog, NewLinkDialog } from "./member-links.tsx";
import { ResetSecondFactorDialog } from "./reset-second-factor.tsx";
import { describeProjectRole, isLastOwner, type Member, nameOfRole, ROLES } from "./roles.ts";

type Open = { readonly action: MemberAction; readonly member: Member };

export function MembersPage() {
  const pages = useSuspenseInfiniteQuery(membersQuery);
  const members = pages.data.pages.flatMap(({ items }) => items);
  const { data: projects } = useSuspenseQuery(projectsQuery);
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
          columns={columnsOf({ projects, mayManage, isLast, onAct: setOpen })}
          rows={members}
          keyOf={({ id }) => id}
          pages={pages}
          what="members"
        />
      </Card>
      <Card
        title="Roles"
        note="Each role includes the roles before it. Project admins cannot manage members or tokens."
      >
        <Details items={ROLES.map(({ name, note }) => ({ name, value: note }))} />
      </Card>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {open?.action === "edit" && (
        <EditMemberDialog member={open.member} isLastOwner={isLast(open.member)} onClose={close} />
      )}
      {open?.action === "reset" && <ResetSecondFactorDialog member={open.member} onClose={close} />}
      {open?.action === "link" && <NewLinkDialog member={open.member} onClose={close} />}
      {open?.action === "remove" && <RemoveMemberDialog member={open.member} onClose={close} />}
    </Page>
  );
}

function columnsOf({
  projects,
  mayManage,
  isLast,
  onAct,
}: {
  projects: readonly Project[];
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
    csvColumn("Single sign-on", ({ usesSignOn }) => (usesSignOn ? "yes" : "no")),
    {
      name: "Role",
      csv: ({ role, projectRoles }) =>
        [
          ...(role === null ? [] : [nameOfRole(role)]),
          ...projectRoles.map((each) => describeProjectRole(each, projects)),
        ].join("; "),
      cell: (member) => (
        <>
          <div>{member.role === null ? "Only some projects" : nameOfRole(member.role)}</div>
          {member.projectRoles.map((each) => (
            <div
              key={`${each.projectId}/${each.environment}`}
              className="text-caption text-muted wrap-anywhere max-sm:whitespace-normal"
            >
              {describeProjectRole(each, projects)}
            </div>
          ))}
          {isLast(member) && <div className="text-caption text-muted">The only owner</div>}
        </>
      ),
    },
    {
      isShown: mayManage,
      name: "Passkey",
      hidesBelow: "md",
      csv: ({ hasPasskey }) => (hasPasskey === true ? "Yes" : "No"),
      cell: ({ hasPasskey }) => (hasPasskey === true ? "Yes" : <span className="text-muted">No</span>),
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
  const { id, name, email, status, usesSignOn } = member;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="text-form font-medium wrap-anywhere">{name}</span>
        {me.kind === "member" && me.id === id && <Badge tone="accent">You</Badge>}
        {status === "invited" && <Badge tone="warn">Invited</Badge>}
        {usesSignOn && <Badge>Single sign-on</Badge>}
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

type MemberAction = "edit" | "link" | "reset" | "remove";

function MemberMenu({
  member,
  isLastOwner,
  onAct,
}: {
  member: Member;
  isLastOwner: boolean;
  onAct: (action: MemberAction) => void;
}) {
  const { id, role } = useSession();
  // Members cannot change members with higher roles. A password reset link would let them take over such an account.
  if (!mayActAs(role, member.role))
    return <span className="text-caption text-muted">Only owners can edit</span>;
  const isInvited = member.status === "invited";
  return (
    <RowMenu label={`Actions for ${member.name}`}>
      <MenuItem icon={Pencil} onClick={() => onAct("edit")}>
        Edit
      </MenuItem>
      {member.id !== id && (
        <MenuItem icon={isInvited ? Link2 : KeyRound} onClick={() => onAct("link")}>
          {isInvited ? "Create new invitation link" : "Create password reset link"}
        </MenuItem>
      )}
      {member.hasPasskey === true && member.id !== id && (
        <MenuItem icon={ShieldOff} onClick={() => onAct("reset")}>
          Reset second factor
        </MenuItem>
      )}
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
