import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { featuresQuery, plansQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { readUntil } from "../../api/lists.ts";
import { usageQuery } from "../../api/usage.ts";
import { usageSettingsOf } from "../../format/usage-search.ts";
import { scopeRoute } from "../../frame/root-routes.tsx";
import { readClock } from "../../ui/time.tsx";
import {
  customerRequestsQuery,
  grantsQuery,
  holdsQuery,
  isLinkTarget,
  knownGrantsQuery,
  ledgerQuery,
  openHoldsQuery,
  planChangesQuery,
  readGrantFilters,
  readHoldFilters,
  readLedgerFilters,
} from "../ledger/queries.ts";
import { readCustomerRequestFilters } from "../requests/request-filters.ts";
import {
  customerQuery,
  customersQuery,
  latestEntriesQuery,
  noticesQuery,
  planVersionQuery,
  readCustomerUsage,
  readFilters,
  readLinkedDialog,
} from "./queries.ts";

const customersRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "customers",
  validateSearch: readFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(customersQuery(params, deps)),
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  // Keep the list visible while the next filter result loads.
  pendingMs: 60_000,
  component: lazyRouteComponent(() => import("./customers-page.tsx"), "CustomersPage"),
});

const customerRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "customers/$customerId",
  validateSearch: readLinkedDialog,
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient
        .ensureQueryData(customerQuery(params))
        .then(({ plan }) => plan && queryClient.ensureQueryData(planVersionQuery(params, plan))),
      queryClient.ensureQueryData(knownGrantsQuery(params)),
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./customer-page.tsx"), "CustomerPage"),
});

const overviewRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "/",
  loader: ({ context: { queryClient }, params }) => queryClient.ensureQueryData(latestEntriesQuery(params)),
  component: lazyRouteComponent(() => import("./overview-tab.tsx"), "OverviewTab"),
});

const ledgerRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "ledger",
  validateSearch: readLedgerFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      readUntil(
        queryClient,
        ledgerQuery(params, deps),
        ({ entry }) => deps.charge === undefined || isLinkTarget(entry, deps),
      ),
      queryClient.ensureQueryData(knownGrantsQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../ledger/ledger-tab.tsx"), "LedgerTab"),
});

const grantsRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "grants",
  validateSearch: readGrantFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      readUntil(
        queryClient,
        grantsQuery(params),
        ({ grant }) => deps.grant === undefined || grant.grant === deps.grant,
      ),
      queryClient.ensureInfiniteQueryData(planChangesQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../credits/grants-tab.tsx"), "GrantsTab"),
});

const holdsRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "holds",
  validateSearch: readHoldFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps: { hold: linked } }) =>
    Promise.all([
      readUntil(
        queryClient,
        openHoldsQuery(params),
        ({ holdId }) => linked === undefined || holdId === linked,
      ),
      // The first pages can contain only open holds.
      readUntil(queryClient, holdsQuery(params), ({ hold }) =>
        linked === undefined ? hold.status !== "open" : hold.holdId === linked,
      ),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../holds/holds-tab.tsx"), "HoldsTab"),
});

const customerUsageRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "usage",
  validateSearch: readCustomerUsage,
  loaderDeps: ({ search }) => search,
  // Prefetching never throws, because the page shows errors itself and keeps the filters.
  loader: ({ context: { queryClient }, params, deps }) => {
    const { customerId } = params;
    const settings = usageSettingsOf({ ...deps, customerId }, Date.now(), readClock());
    return Promise.all([
      queryClient.prefetchQuery(usageQuery(params, settings)),
      queryClient.prefetchQuery(featuresQuery(params)),
      queryClient.prefetchQuery(poolsQuery(params)),
    ]);
  },
  pendingMs: 60_000,
  component: lazyRouteComponent(() => import("./usage-tab.tsx"), "UsageTab"),
});

const customerRequestsRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "requests",
  validateSearch: readCustomerRequestFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(customerRequestsQuery(params, deps)),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./requests-tab.tsx"), "RequestsTab"),
});

const noticesRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "notices",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(noticesQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./notices-tab.tsx"), "NoticesTab"),
});

const planHistoryRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "plans",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(planChangesQuery(params)),
      queryClient.ensureQueryData(plansQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../assignments/plans-tab.tsx"), "PlansTab"),
});

export const customerRoutes = [
  customersRoute,
  customerRoute.addChildren([
    overviewRoute,
    ledgerRoute,
    grantsRoute,
    holdsRoute,
    customerUsageRoute,
    customerRequestsRoute,
    noticesRoute,
    planHistoryRoute,
  ]),
] as const;
