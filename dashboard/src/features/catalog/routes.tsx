import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { scopeRoute } from "../../frame/root-routes.tsx";
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
  readEventKeySearch,
  readFeatureSearch,
  readPlanSearch,
  readPromoteSearch,
} from "./queries.ts";

const featuresRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "features",
  validateSearch: readFeatureSearch,
  loaderDeps: ({ search: { key, define } }) => ({ key, define }),
  loader: async ({ context: { queryClient }, params, deps: { key, define } }) => {
    const [features] = await Promise.all([
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
      key === undefined ? null : queryClient.fetchQuery(featureQuery(params, key)),
    ]);
    // The feature already exists, so open it.
    if (define !== undefined && features.some((feature) => feature.key === define))
      throw redirect({ to: "/projects/$projectId/$environment/features", params, search: { key: define } });
  },
  component: lazyRouteComponent(() => import("./features-page.tsx"), "FeaturesPage"),
});

const eventKeysRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "features/event-keys",
  validateSearch: readEventKeySearch,
  loader: ({ context: { queryClient }, params }) => queryClient.ensureQueryData(eventKeysQuery(params)),
  component: lazyRouteComponent(() => import("./event-keys-page.tsx"), "EventKeysPage"),
});

const poolsRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "features/pools",
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(poolsQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("./pools-page.tsx"), "PoolsPage"),
});

const plansRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "plans",
  validateSearch: readPlanSearch,
  loader: ({ context: { queryClient }, params }) =>
    Promise.all([
      queryClient.ensureQueryData(plansQuery(params)),
      queryClient.ensureQueryData(featuresQuery(params)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  component: lazyRouteComponent(() => import("../plans/plans-page.tsx"), "PlansPage"),
});

const planRoute = createRoute({
  getParentRoute: () => scopeRoute,
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
  getParentRoute: () => scopeRoute,
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
  getParentRoute: () => scopeRoute,
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
  getParentRoute: () => scopeRoute,
  path: "promote",
  validateSearch: readPromoteSearch,
  beforeLoad: ({ params, search }) => {
    // Promotion changes Live, so the page exists only in Live.
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
  getParentRoute: () => scopeRoute,
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
