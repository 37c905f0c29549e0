import type { Item } from "../../api/answer.ts";
import { mayActAs, type Role } from "../../api/session.ts";
import type { Choice } from "../../ui/choices.tsx";

/** Each may do all that those before it may. */
export const ROLES = [
  { role: "viewer", name: "Viewer", note: "Sees everything, changes nothing." },
  { role: "operator", name: "Operator", note: "Also works for customers: plans, credits, corrections." },
  { role: "admin", name: "Admin", note: "Also changes the catalog, API keys, members and tokens." },
  { role: "owner", name: "Owner", note: "Also makes owners, and changes the workspace and its limits." },
] as const satisfies readonly { role: Role; name: string; note: string }[];

export function nameOfRole(wanted: Role): string {
  return ROLES.find(({ role }) => role === wanted)?.name ?? wanted;
}

/** What somebody may give: nobody gives a role above their own. */
export function roleChoices(own: Role): Choice[] {
  return ROLES.map(({ role, name, note }) => ({
    value: role,
    name,
    note: mayActAs(own, role) ? note : `${note} Above your own role: nobody gives that.`,
    isDisabled: !mayActAs(own, role),
  }));
}

const TOKEN_NOTES: Readonly<Record<string, string>> = {
  admin: "Also changes the catalog and API keys.",
  owner: "Also changes the workspace and its limits.",
};

/** The same for a token. Within one environment an owner could do no more than an admin, and is not offered. */
export function tokenRoleChoices(own: Role, isWorkspace: boolean): Choice[] {
  return roleChoices(own)
    .filter(({ value }) => isWorkspace || value !== "owner")
    .map((choice) => ({
      ...choice,
      note: choice.isDisabled === true ? choice.note : (TOKEN_NOTES[choice.value] ?? choice.note),
    }));
}

export type Member = Item<"listMembers">;

/** An invitation that nobody accepted yet does not count: such an owner could let nobody in. */
export function isLastOwner(member: Member, all: readonly Member[]): boolean {
  const isOwner = ({ role, status }: Member): boolean => role === "owner" && status === "active";
  return isOwner(member) && all.filter(isOwner).length === 1;
}
