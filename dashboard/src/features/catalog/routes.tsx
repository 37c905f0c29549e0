import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { placeRoute } from "../../frame/root-routes.tsx";
import { readChoice, readText } from "./list-filter.tsx";
import {
  catalogDocumentQuery,
  eventKeysQuery,
  featureQuery,
  featuresQuery,
  planQuery,
  planReviewQuery,
  plansQuery,
  poolsQuery,
  promotionQuery,
} from "./queries.ts";

const SHOWN = ["archived", "all"] as const;

// What is not set is undefined, and does not stand in the address.
type Filters<Choice extends string> = { search?: string | undefined; show?: Choice | undefined };
type FeatureSearch = Filters<(typeof SHOWN)[number]> & {
  key?: string | undefined;
  define?: string | undefined;
};

const featuresRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "features",
  validateSearch: (search: Record<string, unknown>): FeatureSearch => ({
    search: readText(search, "search"),
    show: readChoice(search, "show", SHOWN),
    // The feature whose dialog is open, or the key that one is to be defined for: others link here with either.
    key: readText(search, "key"),
    define: typeof search["define"] === "string" ? search["define"] : undefined,
  }),
  loaderDeps: ({ search: { key, define } }) => ({ key, define }),
  loader: async ({ context: { queryClient }, params, deps: { key, define } }) => {
    const [features] = await Promise.all([
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
      key === undefined ? null : queryClient.fetchQuery(featureQuery(params, key)),
    ]);
    // Somebody was quicker: it is there already.
    if (define !== undefined && features.some((feature) => feature.key === define))
      throw redirect({ to: "/projects/$projectId/$environment/features", params, search: { key: define } });
  },
  component: lazyRouteComponent(() => import("./features-page.tsx"), "FeaturesPage"),
});

const eventKeysRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "features/event-keys",
  validateSearch: (search: Record<string, unknown>): Filters<"unnamed" | "named"> => ({
    search: readText(search, "search"),
    show: readChoice(search, "show", ["unnamed", "named"]),
  }),
  loader: ({ context: { queryClient }, params }) => queryClient.ensureQueryData(eventKeysQuery(params)),
  component: lazyRouteComponent(() => import("./event-keys-page.tsx"), "EventKeysPage"),
});

const poolsRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "features/pools",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(poolsQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./pools-page.tsx"), "PoolsPage"),
});

const plansRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans",
  validateSearch: (search: Record<string, unknown>): Filters<(typeof SHOWN)[number]> => ({
    search: readText(search, "search"),
    show: readChoice(search, "show", SHOWN),
  }),
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../plans/plans-page.tsx"), "PlansPage"),
});

const planRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans/$key",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(planQuery(params, params.key)),
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../plans/plan-page.tsx"), "PlanPage"),
});

const editPlanRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans/$key/edit",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.fetchQuery(planQuery(params, params.key)),
      queryClient.fetchQuery(featuresQuery(params)),
      queryClient.fetchQuery(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../plans/edit-plan-page.tsx"), "EditPlanPage"),
});

const publishPlanRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "plans/$key/publish",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.fetchQuery(planReviewQuery(params, params.key)),
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../plans/publish-plan-page.tsx"), "PublishPlanPage"),
});

const promoteRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "promote",
  validateSearch: (search: Record<string, unknown>): { archive?: "true" | undefined } => ({
    archive: search["archive"] === true || search["archive"] === "true" ? "true" : undefined,
  }),
  beforeLoad: ({ params, search }) => {
    // What it changes is live: it stands nowhere else, so that colour, title and address say so.
    if (params.environment === "test")
      throw redirect({
        to: "/projects/$projectId/$environment/promote",
        params: { ...params, environment: "live" },
        search,
      });
  },
  loaderDeps: ({ search: { archive } }) => ({ archive }),
  loader: ({ context: { queryClient }, params, deps: { archive } }) =>
    queryClient.fetchQuery(promotionQuery(params.projectId, archive !== undefined)),
  component: lazyRouteComponent(() => import("./promote-page.tsx"), "PromotePage"),
});

const catalogFileRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "catalog-file",
  loader: ({ context: { queryClient }, params }) => queryClient.fetchQuery(catalogDocumentQuery(params)),
  component: lazyRouteComponent(() => import("./catalog-file-page.tsx"), "CatalogFilePage"),
});

export const catalogRoutes = [
  plansRoute,
  planRoute,
  editPlanRoute,
  publishPlanRoute,
  featuresRoute,
  eventKeysRoute,
  poolsRoute,
  promoteRoute,
  catalogFileRoute,
] as const;
