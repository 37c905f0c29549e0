import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute, signedInRoute } from "../../frame/root-routes.tsx";

/** A new project, from its name to its first event. */
export const welcomeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "welcome",
  component: lazyRouteComponent(() => import("./welcome-page.tsx"), "WelcomePage"),
});

const firstEventRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "first-event",
  component: lazyRouteComponent(() => import("./first-event-page.tsx"), "FirstEventPage"),
});

export const firstEventRoutes = [firstEventRoute] as const;
