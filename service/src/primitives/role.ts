import type { ProjectId } from "./brand.ts";
import type { EnvironmentKind } from "./secret.ts";

/** In ascending order: each role includes the previous ones. */
export const ROLES = ["viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** A role in one project. If `environment` is null, the role applies to both environments. */
export type ProjectRole = {
  readonly projectId: ProjectId;
  readonly environment: EnvironmentKind | null;
  readonly role: Role;
};

/** The roles of a member or token. `role` applies to the whole workspace; null if the member or token has no such role. */
export type Roles = { readonly role: Role | null; readonly projectRoles: readonly ProjectRole[] };

/** The highest role that applies in an environment. Null if none applies. */
export function roleIn(
  { role, projectRoles }: Roles,
  scope: { readonly projectId: ProjectId; readonly environment: EnvironmentKind },
): Role | null {
  return projectRoles
    .filter(({ projectId }) => projectId === scope.projectId)
    .filter(({ environment }) => environment === null || environment === scope.environment)
    .reduce((highest, { role }) => greaterRole(highest, role), role);
}

/** The role in a whole project: the lower of the roles in its two environments. */
export function roleInProject(roles: Roles, projectId: ProjectId): Role | null {
  return lesserRole(
    roleIn(roles, { projectId, environment: "test" }),
    roleIn(roles, { projectId, environment: "live" }),
  );
}

/** The highest role in the workspace or in any environment. */
export function highestRole({ role, projectRoles }: Roles): Role | null {
  return projectRoles.reduce((highest, { role }) => greaterRole(highest, role), role);
}

/** Whether `roles` allow everything, in every scope, that `others` allow. */
export function includesRoles(roles: Roles, others: Roles): boolean {
  return (
    mayActAs(roles.role, others.role) &&
    others.projectRoles.every(({ projectId, environment, role }) =>
      mayActAs(
        environment === null ? roleInProject(roles, projectId) : roleIn(roles, { projectId, environment }),
        role,
      ),
    )
  );
}

/** Null is no role, below all roles. */
export function mayActAs(role: Role | null, needed: Role | null): boolean {
  return rankOf(role) >= rankOf(needed);
}

export function lesserRole<A extends Role | null>(a: A, b: A): A {
  return mayActAs(a, b) ? b : a;
}

function greaterRole(a: Role | null, b: Role): Role {
  return a !== null && mayActAs(a, b) ? a : b;
}

function rankOf(role: Role | null): number {
  return role === null ? -1 : ROLES.indexOf(role);
}
