import { KeyRound, Link2, Pencil, UserRoundMinus } from "lucide-react";
import { mayActAs } from "../../../api/session.ts";
import { useSession } from "../../../frame/use-session.ts";
import { MenuItem, MenuLabel, MenuSeparator } from "../../../ui/menu.tsx";
import { RowMenu } from "../../../ui/row-menu.tsx";
import type { Member } from "./member.ts";

export type MemberAction = "edit" | "link" | "remove";

export function MemberMenu({
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
