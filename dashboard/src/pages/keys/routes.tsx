import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";

const apiKeysRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "api-keys",
  component: lazyRouteComponent(() => import("./api-keys-page.tsx"), "ApiKeysPage"),
});

export const apiKeyRoutes = [apiKeysRoute] as const;
