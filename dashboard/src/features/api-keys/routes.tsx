import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { choice, searchOf } from "../../format/search.ts";
import { scopeRoute } from "../../frame/root-routes.tsx";
import { apiKeysQuery } from "./queries.ts";

const apiKeysRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "api-keys",
  validateSearch: searchOf({ do: choice(["create"]) }),
  loader: ({ context, params }) => context.queryClient.ensureInfiniteQueryData(apiKeysQuery(params)),
  component: lazyRouteComponent(() => import("./api-keys-page.tsx"), "ApiKeysPage"),
});

export const apiKeyRoutes = [apiKeysRoute] as const;
