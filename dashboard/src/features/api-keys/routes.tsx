import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { scopeRoute } from "../../frame/root-routes.tsx";
import { apiKeysQuery } from "./queries.ts";

const apiKeysRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "api-keys",
  loader: ({ context, params }) => context.queryClient.ensureInfiniteQueryData(apiKeysQuery(params)),
  component: lazyRouteComponent(() => import("./api-keys-page.tsx"), "ApiKeysPage"),
});

export const apiKeyRoutes = [apiKeysRoute] as const;
