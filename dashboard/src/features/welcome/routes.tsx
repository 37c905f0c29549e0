import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute, signedInRoute } from "../../frame/root-routes.tsx";
import { arrivalQuery, featuresQuery } from "./queries.ts";

/** A new project, from its name to its first event. */
export const welcomeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "welcome",
  component: lazyRouteComponent(() => import("./welcome-page.tsx"), "WelcomePage"),
});

const firstEventRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "first-event",
  // Another environment is another page: nothing of the one before may stay.
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
