import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectsQuery } from "../../api/projects.ts";
import { workspaceRoute } from "../../frame/root-routes.tsx";
import { readAuditFilters } from "../audit/audit-filters.ts";
import {
  auditQuery,
  defaultPlansQuery,
  healthQuery,
  membersQuery,
  sessionsQuery,
  tokensQuery,
  workspaceQuery,
} from "./queries.ts";

const membersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "members",
  loader: ({ context }) => context.queryClient.ensureInfiniteQueryData(membersQuery),
  component: lazyRouteComponent(() => import("../members/members-page.tsx"), "MembersPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "tokens",
  loader: ({ context }) => context.queryClient.ensureInfiniteQueryData(tokensQuery),
  component: lazyRouteComponent(() => import("../tokens/tokens-page.tsx"), "TokensPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "audit",
  validateSearch: readAuditFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(auditQuery(deps)),
      queryClient.ensureInfiniteQueryData(membersQuery),
      queryClient.ensureInfiniteQueryData(tokensQuery),
    ]),
  component: lazyRouteComponent(() => import("../audit/audit-page.tsx"), "AuditPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "settings",
  loader: async ({ context: { queryClient } }) => {
    const projects = await queryClient.ensureQueryData(projectsQuery);
    await Promise.all([
      queryClient.ensureQueryData(workspaceQuery),
      // Not from the cache: health and default plans must be current.
      queryClient.fetchQuery(healthQuery),
      queryClient.fetchQuery(sessionsQuery),
      ...projects.map(({ id }) => queryClient.fetchQuery(defaultPlansQuery(id))),
    ]);
  },
  component: lazyRouteComponent(() => import("../settings/settings-page.tsx"), "SettingsPage"),
});

export const workspaceRoutes = [membersRoute, tokensRoute, auditRoute, settingsRoute] as const;
