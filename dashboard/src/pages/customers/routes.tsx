import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";
import { planChoicesQuery, poolChoicesQuery } from "./catalog-queries.ts";
import { readGrantFilters, readLedgerFilters } from "./ledger-filters.ts";
import { customerQuery, customersQuery } from "./queries.ts";
import { readFilters } from "./read-filters.ts";

export const customersRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "customers",
  validateSearch: readFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(customersQuery(params, deps)),
      queryClient.ensureQueryData(planChoicesQuery(params)),
      queryClient.ensureQueryData(poolChoicesQuery(params)),
    ]),
  // While somebody types into the filter the list stays, however long the next one takes.
  pendingMs: 60_000,
  component: lazyRouteComponent(() => import("./customers-page.tsx"), "CustomersPage"),
});

export const customerRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "customers/$customerId",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(customerQuery(params, params.customerId)),
      queryClient.ensureQueryData(poolChoicesQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./customer-page.tsx"), "CustomerPage"),
});

const overviewRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./overview-tab.tsx"), "OverviewTab"),
});

export const ledgerRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "ledger",
  validateSearch: readLedgerFilters,
  component: lazyRouteComponent(() => import("./ledger-tab.tsx"), "LedgerTab"),
});

export const grantsRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "grants",
  validateSearch: readGrantFilters,
  component: lazyRouteComponent(() => import("./grants-tab.tsx"), "GrantsTab"),
});

const requestsRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "requests",
  component: lazyRouteComponent(() => import("./requests-tab.tsx"), "RequestsTab"),
});

const plansRoute = createRoute({
  getParentRoute: () => customerRoute,
  path: "plans",
  component: lazyRouteComponent(() => import("./plans-tab.tsx"), "PlansTab"),
});

export const customerRoutes = [
  customersRoute,
  customerRoute.addChildren([overviewRoute, ledgerRoute, grantsRoute, requestsRoute, plansRoute]),
] as const;
