import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";
import {
  BALANCE_BELOW,
  hasCustomersQuery,
  isDemoQuery,
  latestRequestsQuery,
  lowBalancesQuery,
  readHomeSearch,
  summaryQuery,
  unnamedEventsQuery,
} from "./queries.ts";

/** How long the page before may stay: then the parts that are slow come one by one. */
const WAIT_MS = 300;

const homeRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "/",
  validateSearch: readHomeSearch,
  loaderDeps: ({ search: { balanceBelow = BALANCE_BELOW } }) => ({ balanceBelow }),
  loader: async ({ context: { queryClient }, params, deps }) => {
    // Beside the data, not after it. What fails here is asked for again where it is shown.
    import("./traffic-chart.tsx").catch(() => {});
    // None of these throws: each part shows what became of its own.
    const parts = Promise.all([
      queryClient.prefetchQuery(summaryQuery(params)),
      queryClient.prefetchQuery(latestRequestsQuery(params)),
      queryClient.prefetchQuery(hasCustomersQuery(params)),
      queryClient.prefetchQuery(lowBalancesQuery(params, deps.balanceBelow)),
      queryClient.prefetchQuery(unnamedEventsQuery(params)),
      queryClient.prefetchQuery(isDemoQuery(params)),
    ]);
    await Promise.race([parts, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
  },
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});

export const homeRoutes = [homeRoute] as const;
