import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { featuresQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { scopeRoute, waitBriefly } from "../../frame/root-routes.tsx";
import {
  BALANCE_BELOW,
  chargedQuery,
  forecastsQuery,
  hasCustomersQuery,
  isDemoQuery,
  latestRequestsQuery,
  lowBalancesQuery,
  readHomeSearch,
  readRunningOutSearch,
  repeatedChargesQuery,
  runningOutQuery,
  summaryQuery,
  unnamedEventsQuery,
} from "./queries.ts";

const homeRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "/",
  validateSearch: readHomeSearch,
  loaderDeps: ({ search: { balanceBelow = BALANCE_BELOW } }) => ({ balanceBelow }),
  loader: ({ context: { queryClient }, params, deps }) =>
    // Prefetching never throws, because each card shows its own error.
    waitBriefly(
      Promise.all([
        queryClient.prefetchQuery(summaryQuery(params)),
        queryClient.prefetchQuery(latestRequestsQuery(params)),
        queryClient.prefetchQuery(hasCustomersQuery(params)),
        queryClient.prefetchQuery(lowBalancesQuery(params, deps.balanceBelow)),
        queryClient.prefetchQuery(unnamedEventsQuery(params)),
        queryClient.prefetchQuery(runningOutQuery(params)),
        queryClient.prefetchQuery(repeatedChargesQuery(params)),
        queryClient.prefetchQuery(chargedQuery(params)),
        queryClient.prefetchQuery(isDemoQuery(params)),
        queryClient.prefetchQuery(featuresQuery(params)),
        queryClient.prefetchQuery(poolsQuery(params)),
      ]),
    ),
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});

const runningOutRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "running-out",
  validateSearch: readRunningOutSearch,
  loaderDeps: ({ search: { days } }) => ({ days }),
  loader: ({ context: { queryClient }, params, deps: { days } }) =>
    Promise.all([
      queryClient.ensureQueryData(forecastsQuery(params, days)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  // Keep the list visible while the next filter result loads.
  pendingMs: 60_000,
  component: lazyRouteComponent(() => import("./running-out-page.tsx"), "RunningOutPage"),
});

export const homeRoutes = [homeRoute, runningOutRoute] as const;
