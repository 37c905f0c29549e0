import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { featureNamesQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { usageQuery } from "../../api/usage.ts";
import { readUsageSearch, usageSettingsOf } from "../../format/usage-search.ts";
import { scopeRoute, waitBriefly } from "../../frame/root-routes.tsx";
import { readClock } from "../../ui/time.tsx";
import { readExportSearch } from "../exports/export-search.ts";
import { lastMonth, monthQuery, readMonthSearch } from "../months/queries.ts";
import { eventsQuery, metadataFieldsQuery, readEventFilters } from "./queries.ts";

/** Keep the page visible while the next filter result loads. */
const STAYS_MS = 60_000;

const usageRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "usage",
  validateSearch: readUsageSearch,
  loaderDeps: ({ search }) => search,
  // Prefetching never throws, because the page shows errors itself and keeps the filters.
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.prefetchQuery(usageQuery(params, usageSettingsOf(deps, Date.now(), readClock()))),
      queryClient.prefetchQuery(featureNamesQuery(params)),
      queryClient.prefetchQuery(metadataFieldsQuery(params)),
      queryClient.prefetchQuery(poolsQuery(params)),
    ]),
  pendingMs: STAYS_MS,
  component: lazyRouteComponent(() => import("./usage-page.tsx"), "UsagePage"),
});

const eventsRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "usage/events",
  validateSearch: readEventFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    queryClient.ensureInfiniteQueryData(eventsQuery(params, deps)),
  pendingMs: STAYS_MS,
  component: lazyRouteComponent(() => import("./events-page.tsx"), "EventsPage"),
});

const monthEndRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "usage/month-end",
  validateSearch: readMonthSearch,
  loaderDeps: ({ search: { month } }) => ({ month: month ?? lastMonth() }),
  loader: ({ context: { queryClient }, params, deps }) =>
    // Meanwhile, another month can be chosen.
    waitBriefly(queryClient.prefetchQuery(monthQuery(params, deps.month))),
  component: lazyRouteComponent(() => import("../months/month-end-page.tsx"), "MonthEndPage"),
});

const exportsRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "usage/exports",
  validateSearch: readExportSearch,
  component: lazyRouteComponent(() => import("../exports/exports-page.tsx"), "ExportsPage"),
});

export const usageRoutes = [usageRoute, eventsRoute, monthEndRoute, exportsRoute] as const;
