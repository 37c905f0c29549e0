import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, Link2, Pencil, UserRoundMinus, UserRoundPlus } from "lucide-react";
import { useState } from "react";
import { mayActAs } from "../../api/session.ts";
import { nameOfCreator } from "../../format/creator.ts";
import { useMayActAs, useSession } from "../../frame/use-session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { MenuItem, MenuLabel, MenuSeparator, RowMenu } from "../../ui/menu.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { membersQuery } from "../workspace/queries.ts";
import { EditMemberDialog, RemoveMemberDialog } from "./member-changes.tsx";
import { InviteDialog, NewLinkDialog } from "./member-links.tsx";
import { isLastOwner, type Member, nameOfRole, ROLES } from "./roles.ts";

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
      note="The people who run Purser here, and what each of them may do."
      actions={
        mayManage && (
          <Button tone="primary" icon={UserRoundPlus} onClick={() => setInviting(true)}>
            Invite member
          </Button>
        )
      }
    >
      <Card flush>
        <Table
          label="Members"
          columns={columnsOf({ mayManage, isLast, onAct: setOpen })}
          rows={members}
          keyOf={({ id }) => id}
        />
        <More pages={pages} shown={members.length} what="members" />
      </Card>
      <Card title="What roles may do" note="Each may also do what those above it may.">
        <Details items={ROLES.map(({ name, note }) => ({ name, value: note }))} />
      </Card>
      <Disclosure title="JSON">
        <CodeBlock label="the members" code={JSON.stringify(members, null, 2)} />
      </Disclosure>
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
    { name: "Member", isWide: true, cell: (member) => <Name member={member} /> },
    {
      name: "Role",
      cell: (member) => (
        <>
          <div>{nameOfRole(member.role)}</div>
          {isLast(member) && <div className="text-caption text-muted">The only one</div>}
        </>
      ),
    },
    { name: "Since", hidesWhenNarrow: true, cell: ({ createdAt }) => <Time at={createdAt} as="day" /> },
    ...(mayManage
      ? [
          {
            name: "Actions",
            isNameHidden: true,
            isNumber: true,
            cell: (member: Member) => (
              <MemberMenu
                member={member}
                isLastOwner={isLast(member)}
                onAct={(action) => onAct({ action, member })}
              />
            ),
          },
        ]
      : []),
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

/** Who let them in, or will: a link is as good as a password. */
function OpenLink({ member: { status, openLink } }: { member: Member }) {
  if (openLink === null) {
    return status === "invited" && <div className="text-caption text-warn">The invitation link ended</div>;
  }
  return (
    <div className="text-caption text-muted wrap-anywhere">
      {openLink.purpose === "invitation" ? "Invitation" : "Login link"} by {nameOfCreator(openLink.createdBy)}
      , ends <Time at={openLink.expiresAt} as="day" />
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
  // Nobody touches somebody above them: a link to a new password would be a way to become them.
  if (!mayActAs(role, member.role)) return <span className="text-caption text-muted">Only by an owner</span>;
  const isInvited = member.status === "invited";
  return (
    <RowMenu label={`Actions for ${member.name}`}>
      <MenuItem icon={Pencil} onClick={() => onAct("edit")}>
        Change name or role
      </MenuItem>
      <MenuItem icon={isInvited ? Link2 : KeyRound} onClick={() => onAct("link")}>
        {isInvited ? "Make a new invitation link" : "Make a link to a new password"}
      </MenuItem>
      <MenuSeparator />
      {isLastOwner ? (
        <MenuLabel>
          <p className="max-w-52">The only owner cannot be removed. Make somebody else an owner first.</p>
        </MenuLabel>
      ) : (
        <MenuItem icon={UserRoundMinus} isDangerous onClick={() => onAct("remove")}>
          {isInvited ? "Withdraw the invitation" : "Remove from the workspace"}
        </MenuItem>
      )}
    </RowMenu>
  );
}
