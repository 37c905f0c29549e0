import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { workspaceRoute } from "../../frame/root-routes.tsx";

const membersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "members",
  component: lazyRouteComponent(() => import("./members-page.tsx"), "MembersPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "tokens",
  component: lazyRouteComponent(() => import("./tokens-page.tsx"), "TokensPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "audit",
  component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "settings",
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const workspaceRoutes = [membersRoute, tokensRoute, auditRoute, settingsRoute] as const;
