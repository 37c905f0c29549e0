import { createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import { projectsQuery } from "../../api/projects.ts";
import { mayActAs, type Session } from "../../api/session.ts";
import { readSignOnProblem } from "../../format/sign-on.ts";
import { findLastScope } from "../../frame/last-scope.ts";
import { workspaceRoute } from "../../frame/root-routes.tsx";
import { readAuditFilters } from "../audit/audit-filters.ts";
import {
  auditQuery,
  defaultPlansQuery,
  healthQuery,
  membersQuery,
  ownSignOnQuery,
  passkeysQuery,
  sessionsQuery,
  signOnSettingsQuery,
  tokensQuery,
  workspaceQuery,
} from "./queries.ts";

type Context = { context: { session: Session } };

/** The pages of the whole workspace do not exist for members with roles only in projects. */
function requireWorkspaceRole({ context: { session } }: Context): void {
  if (session.role === null) throw notFound();
}

const membersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "members",
  beforeLoad: requireWorkspaceRole,
  loader: ({ context }) => context.queryClient.ensureInfiniteQueryData(membersQuery),
  component: lazyRouteComponent(() => import("../members/members-page.tsx"), "MembersPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "tokens",
  beforeLoad: requireWorkspaceRole,
  loader: ({ context }) => context.queryClient.ensureInfiniteQueryData(tokensQuery),
  component: lazyRouteComponent(() => import("../tokens/tokens-page.tsx"), "TokensPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "audit",
  validateSearch: readAuditFilters,
  beforeLoad: async ({ context: { queryClient, session }, search }) => {
    if (session.role !== null || search.projectId !== undefined) return;
    // A member with roles only in projects reads the log of one environment.
    const scope = findLastScope(await queryClient.ensureQueryData(projectsQuery));
    if (scope === null) throw notFound();
    const { environment } = scope;
    throw redirect({
      to: "/workspace/audit",
      search: { ...search, projectId: Number(scope.projectId), environment },
    });
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient, session }, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(auditQuery(deps, session)),
      ...(session.role === null
        ? []
        : [
            queryClient.ensureInfiniteQueryData(membersQuery),
            queryClient.ensureInfiniteQueryData(tokensQuery),
          ]),
    ]),
  component: lazyRouteComponent(() => import("../audit/audit-page.tsx"), "AuditPage"),
});

const importSettings = () => import("../settings/settings-page.tsx");

/** Viewers and operators cannot change the workspace. Their settings start with the profile. */
function requireAdmin({ context: { session } }: Context): void {
  if (!mayActAs(session.role, "admin")) throw redirect({ to: "/workspace/settings/profile" });
}

const settingsRoutes = [
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "settings",
    beforeLoad: requireAdmin,
    loader: ({ context }) => context.queryClient.ensureQueryData(workspaceQuery),
    component: lazyRouteComponent(importSettings, "WorkspaceTab"),
  }),
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "settings/projects",
    beforeLoad: requireWorkspaceRole,
    loader: async ({ context: { queryClient } }) => {
      const projects = await queryClient.ensureQueryData(projectsQuery);
      // Bypass the cache, because default plans must be current.
      await Promise.all(projects.map(({ id }) => queryClient.fetchQuery(defaultPlansQuery(id))));
    },
    component: lazyRouteComponent(importSettings, "ProjectsTab"),
  }),
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "settings/single-sign-on",
    beforeLoad: requireAdmin,
    loader: ({ context }) => context.queryClient.ensureQueryData(signOnSettingsQuery),
    component: lazyRouteComponent(importSettings, "SignOnTab"),
  }),
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "settings/health",
    beforeLoad: requireAdmin,
    // Bypass the cache, because health must be current.
    loader: ({ context }) => context.queryClient.fetchQuery(healthQuery),
    component: lazyRouteComponent(importSettings, "HealthTab"),
  }),
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "settings/profile",
    // The result of connecting single sign-on.
    validateSearch: (search: Record<string, unknown>): { problem?: string; connected?: true } => ({
      ...readSignOnProblem(search["problem"]),
      ...(search["connected"] === true ? { connected: true } : {}),
    }),
    loader: ({ context: { queryClient } }) =>
      Promise.all([
        queryClient.fetchQuery(sessionsQuery),
        queryClient.fetchQuery(ownSignOnQuery),
        queryClient.fetchQuery(passkeysQuery),
      ]),
    component: lazyRouteComponent(importSettings, "ProfileTab"),
  }),
] as const;

export const workspaceRoutes = [membersRoute, tokensRoute, auditRoute, ...settingsRoutes] as const;
