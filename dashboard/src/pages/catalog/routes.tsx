import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";

const plansRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans",
  component: lazyRouteComponent(() => import("./plans-page.tsx"), "PlansPage"),
});

export const planRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans/$key",
  component: lazyRouteComponent(() => import("./plan-page.tsx"), "PlanPage"),
});

const featuresRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "features",
  component: lazyRouteComponent(() => import("./features-page.tsx"), "FeaturesPage"),
});

const promoteRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "promote",
  component: lazyRouteComponent(() => import("./promote-page.tsx"), "PromotePage"),
});

export const catalogRoutes = [plansRoute, planRoute, featuresRoute, promoteRoute] as const;
