import { createRouter } from "@tanstack/react-router";
import { queryClient } from "./api/query-client.ts";
import { apiKeyRoutes } from "./features/api-keys/routes.tsx";
import { authRoutes } from "./features/auth/routes.tsx";
import { catalogRoutes } from "./features/catalog/routes.tsx";
import { customerRoutes } from "./features/customers/routes.tsx";
import { homeRoutes } from "./features/home/routes.tsx";
import { requestRoutes } from "./features/requests/routes.tsx";
import { usageRoutes } from "./features/usage/routes.tsx";
import { webhookRoutes } from "./features/webhooks/routes.tsx";
import { firstEventRoutes, welcomeRoute } from "./features/welcome/routes.tsx";
import { workspaceRoutes } from "./features/workspace/routes.tsx";
import { PageError, PageNotFound } from "./frame/error-pages.tsx";
import {
  rootRoute,
  scopeRoute,
  signedInRoute,
  startPageRoute,
  workspaceRoute,
} from "./frame/root-routes.tsx";
import { SkeletonPage } from "./ui/skeleton.tsx";

const routeTree = rootRoute.addChildren([
  ...authRoutes,
  signedInRoute.addChildren([
    startPageRoute,
    welcomeRoute,
    scopeRoute.addChildren([
      ...homeRoutes,
      ...customerRoutes,
      ...catalogRoutes,
      ...requestRoutes,
      ...usageRoutes,
      ...apiKeyRoutes,
      ...webhookRoutes,
      ...firstEventRoutes,
    ]),
    workspaceRoute.addChildren([...workspaceRoutes]),
  ]),
]);

export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: "intent",
  // React Query does the caching.
  defaultPreloadStaleTime: 0,
  // Most pages load sooner than this. The page replaces the placeholder as soon as there is data.
  defaultPendingMs: 500,
  defaultPendingMinMs: 0,
  defaultPendingComponent: SkeletonPage,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: PageNotFound,
  // Remount when a parameter changes, so that an open form never acts on another customer or environment.
  defaultRemountDeps: ({ params }) => params,
  // Drop search parameters that no route has validated.
  search: { strict: true },
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
