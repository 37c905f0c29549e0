import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { scopeRoute, signedInRoute } from "../../frame/root-routes.tsx";
import { arrivalQuery, featuresQuery } from "./queries.ts";

/** Creates a project. */
export const welcomeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "welcome",
  component: lazyRouteComponent(() => import("./welcome-page.tsx"), "WelcomePage"),
});

const firstEventRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "first-event",
  // Remount on an environment change, so that no state carries over.
  remountDeps: ({ params }) => params,
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(arrivalQuery(params, "events")),
      queryClient.ensureQueryData(arrivalQuery(params, "consume")),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./first-event-page.tsx"), "FirstEventPage"),
});

export const firstEventRoutes = [firstEventRoute] as const;
