import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";
import { readGrantFilters, readLedgerFilters } from "./ledger-filters.ts";
import { type CustomerFilters, customersQuery } from "./queries.ts";

export const customersRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "customers",
  validateSearch: readFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureInfiniteQueryData(customersQuery(params, deps)),
  component: lazyRouteComponent(() => import("./customers-page.tsx"), "CustomersPage"),
});

export const customerRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "customers/$customerId",
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

function readFilters(search: Record<string, unknown>): CustomerFilters {
  const text = (name: string): string | null => {
    const value = search[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : null;
  };
  const [wanted, plan, below] = [text("search"), text("plan"), text("balanceBelow")];
  return {
    ...(wanted === null || wanted === "" ? {} : { search: wanted }),
    ...(plan === null || plan === "" ? {} : { plan }),
    ...(below === null || !/^\d{1,15}$/.test(below) ? {} : { balanceBelow: below }),
    ...(search["blocked"] === true || search["blocked"] === "true" ? { blocked: "true" as const } : {}),
  };
}
