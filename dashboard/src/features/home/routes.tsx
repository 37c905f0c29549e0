import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { scopeRoute } from "../../frame/root-routes.tsx";
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

/** Wait this long before showing placeholders. Shorter than on other pages, because each card has its own placeholder. */
const WAIT_MS = 200;

const homeRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "/",
  validateSearch: readHomeSearch,
  loaderDeps: ({ search: { balanceBelow = BALANCE_BELOW } }) => ({ balanceBelow }),
  loader: async ({ context: { queryClient }, params, deps }) => {
    // Load the chart in parallel with the data. React.lazy retries if this fails.
    import("./traffic-chart.tsx").catch(() => {});
    // Prefetching never throws: each card shows its own error.
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
