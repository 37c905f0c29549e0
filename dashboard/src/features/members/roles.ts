import type { Item } from "../../api/answer.ts";
import type { Project } from "../../api/projects.ts";
import { mayActAs, type Role, type Roles } from "../../api/session.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { withArticle } from "../../format/terms.ts";
import type { Choice } from "../../ui/choices.tsx";

/** Each role also has the permissions of the roles before it. */
export const ROLES = [
  { role: "viewer", name: "Viewer", note: "Read-only access." },
  { role: "operator", name: "Operator", note: "Manages customers: plans, credits, reversals." },
  { role: "admin", name: "Admin", note: "Manages the catalog, API keys, members and tokens." },
  { role: "owner", name: "Owner", note: "Manages owners, the workspace and its limits." },
] as const satisfies readonly { role: Role; name: string; note: string }[];

export function nameOfRole(wanted: Role): string {
  return ROLES.find(({ role }) => role === wanted)?.name ?? wanted;
}

/** The role with its article: "a viewer", "an admin", "a member of 2 projects". */
export function describeRoles({ role, projectRoles }: Roles): string {
  if (role !== null) return withArticle(nameOfRole(role).toLowerCase());
  return `a member of ${countOf(new Set(projectRoles.map(({ projectId }) => projectId)).size, "project")}`;
}

/** A role in a project: "Acme Studio (Test): Operator". */
export function describeProjectRole(
  { projectId, environment, role }: Roles["projectRoles"][number],
  projects: readonly Project[],
): string {
  const name = projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`;
  return `${name}${environment === null ? "" : ` (${ENVIRONMENT_NAMES[environment]})`}: ${nameOfRole(role)}`;
}

/** Roles to assign. Members cannot assign a role above their own. */
export function roleChoices(own: Role | null): Choice[] {
  return ROLES.map(({ role, name, note }) => ({
    value: role,
    name,
    note: mayActAs(own, role) ? note : `${note} You cannot assign a role above your own.`,
    isDisabled: !mayActAs(own, role),
  }));
}

const TOKEN_NOTES: Readonly<Record<string, string>> = {
  admin: "Manages the catalog and API keys.",
  owner: "Manages the workspace and its limits.",
};

/** Roles for a token. Owner is only offered for the whole workspace. */
export function tokenRoleChoices(own: Role | null, isWorkspace: boolean): Choice[] {
  return roleChoices(own)
    .filter(({ value }) => isWorkspace || value !== "owner")
    .map((choice) => ({
      ...choice,
      note: choice.isDisabled === true ? choice.note : (TOKEN_NOTES[choice.value] ?? choice.note),
    }));
}

export type Member = Item<"listMembers">;

/** Pending invitations do not count. */
export function isLastOwner(member: Member, all: readonly Member[]): boolean {
  const isOwner = ({ role, status }: Member): boolean => role === "owner" && status === "active";
  return isOwner(member) && all.filter(isOwner).length === 1;
}
