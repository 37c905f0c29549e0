import { createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import { ApiProblem } from "../../api/api-problem.ts";
import { placeRoute } from "../../frame/root-routes.tsx";
import { denialQuery, keyQuery, requestsQuery } from "./queries.ts";
import { filtersOf, readSearch } from "./request-filters.ts";

const requestsRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "requests",
  validateSearch: readSearch,
  loaderDeps: ({ search }) => filtersOf(search),
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureInfiniteQueryData(requestsQuery(params, deps)),
  component: lazyRouteComponent(() => import("./requests-page.tsx"), "RequestsPage"),
});

const keyRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "keys/$idempotencyKey",
  loader: ({ context, params: { idempotencyKey, ...place } }) =>
    context.queryClient.ensureQueryData(keyQuery(place, idempotencyKey)),
  component: lazyRouteComponent(() => import("./key-page.tsx"), "KeyPage"),
});

/** Redirects from a log row to its denial. The log only has the idempotency key. */
const whyRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "keys/$idempotencyKey/why",
  beforeLoad: async ({ context, params }) => {
    const { projectId, environment, idempotencyKey } = params;
    const place = { projectId, environment };
    const story = await context.queryClient.fetchQuery(keyQuery(place, idempotencyKey));
    const denialId = story?.denial?.denialId;
    if (denialId === undefined) {
      throw redirect({ to: "/projects/$projectId/$environment/keys/$idempotencyKey", params, replace: true });
    }
    throw redirect({
      to: "/projects/$projectId/$environment/denials/$denialId",
      params: { ...place, denialId },
      replace: true,
    });
  },
});

const denialRoute = createRoute({
  getParentRoute: () => placeRoute,
  path: "denials/$denialId",
  loader: ({ context, params: { denialId, ...place } }) =>
    context.queryClient.ensureQueryData(denialQuery(place, denialId)).catch((error: unknown) => {
      if (error instanceof ApiProblem && error.status === 404) throw notFound();
      throw error;
    }),
  component: lazyRouteComponent(() => import("./denial-page.tsx"), "DenialPage"),
});

export const requestRoutes = [requestsRoute, keyRoute, whyRoute, denialRoute] as const;
