import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";

const homeRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});

export const homeRoutes = [homeRoute] as const;
