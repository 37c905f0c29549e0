import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";

const requestsRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "requests",
  component: lazyRouteComponent(() => import("./requests-page.tsx"), "RequestsPage"),
});

export const keyRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "keys/$idempotencyKey",
  component: lazyRouteComponent(() => import("./key-page.tsx"), "KeyPage"),
});

export const denialRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "denials/$denialId",
  component: lazyRouteComponent(() => import("./denial-page.tsx"), "DenialPage"),
});

export const requestRoutes = [requestsRoute, keyRoute, denialRoute] as const;
