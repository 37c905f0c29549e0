import { queryOptions } from "@tanstack/react-query";
import { type Answer, ENVIRONMENTS, type Scope } from "./answer.ts";
import { ApiProblem } from "./api-problem.ts";
import { answerOf, api, queryOf } from "./client.ts";

export type Session = Answer<"readSession">;
export type Role = NonNullable<Session["role"]>;

/** The roles of a member. `role` applies to the whole workspace; null if the member has roles only in projects. */
export type Roles = Pick<Session, "role" | "projectRoles">;

const RANKS: readonly (Role | null)[] = [null, "viewer", "operator", "admin", "owner"];

/** Null is no role, below all roles. */
export function mayActAs(role: Role | null, needed: Role | null): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
}

/** The highest role that applies in an environment, or in the whole workspace if `scope` is null. */
export function roleIn({ role, projectRoles }: Roles, scope: Scope | null): Role | null {
  return projectRoles
    .filter(({ projectId }) => projectId === scope?.projectId)
    .filter(({ environment }) => environment === null || environment === scope?.environment)
    .reduce((highest, { role }) => (mayActAs(highest, role) ? highest : role), role);
}

/** Whether the role applies in both environments of a project. */
export function mayActInProject(roles: Roles, projectId: string, needed: Role): boolean {
  return ENVIRONMENTS.every((environment) => mayActAs(roleIn(roles, { projectId, environment }), needed));
}

/** Whether `roles` allow everything, in every project and environment, that `others` allow. */
export function includesRoles(roles: Roles, others: Roles): boolean {
  return (
    mayActAs(roles.role, others.role) &&
    others.projectRoles.every(({ projectId, environment, role }) =>
      environment === null
        ? mayActInProject(roles, projectId, role)
        : mayActAs(roleIn(roles, { projectId, environment }), role),
    )
  );
}

/** The member or token that is logged in; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ["get", "/manage/v1/session"],
  queryFn: async (): Promise<Session | null> => {
    try {
      return await answerOf(api.GET("/manage/v1/session"));
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const setupQuery = queryOf("get", "/manage/v1/setup");

/** Whether members can, or must, use single sign-on. */
export const signOnQuery = queryOf("get", "/manage/v1/single-sign-on", {}, { staleTime: 60_000 });

/** The provider's logout page, after a logout. Kept in memory, because a link in the address could lead anywhere. */
let providerLogOut: string | null = null;

/** Ends the session. The login page then offers to log out of the single sign-on provider too. */
export async function logOut(everywhere: boolean): Promise<void> {
  const query = everywhere ? ({ everywhere: "true" } as const) : {};
  const { providerLogOutUrl } = await answerOf(api.DELETE("/manage/v1/session", { params: { query } }));
  providerLogOut = providerLogOutUrl;
}

export function readProviderLogOut(): string | null {
  return providerLogOut;
}
