import { createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import { ApiProblem } from "../../api/api-problem.ts";
import { scopeRoute } from "../../frame/root-routes.tsx";
import { denialQuery, keyQuery, requestsQuery } from "./queries.ts";
import { filtersOf, readSearch } from "./request-filters.ts";

const requestsRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "requests",
  validateSearch: readSearch,
  loaderDeps: ({ search }) => filtersOf(search),
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureInfiniteQueryData(requestsQuery(params, deps)),
  component: lazyRouteComponent(() => import("./requests-page.tsx"), "RequestsPage"),
});

const keyRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "keys/$idempotencyKey",
  loader: ({ context, params: { idempotencyKey, ...scope } }) =>
    context.queryClient.ensureQueryData(keyQuery(scope, idempotencyKey)),
  component: lazyRouteComponent(() => import("./key-page.tsx"), "KeyPage"),
});

/** Redirects from a log row to its denial. The log only has the idempotency key. */
const whyRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "keys/$idempotencyKey/why",
  beforeLoad: async ({ context, params }) => {
    const { projectId, environment, idempotencyKey } = params;
    const scope = { projectId, environment };
    const history = await context.queryClient.fetchQuery(keyQuery(scope, idempotencyKey));
    const denialId = history?.denial?.denialId;
    if (denialId === undefined) {
      throw redirect({ to: "/projects/$projectId/$environment/keys/$idempotencyKey", params, replace: true });
    }
    throw redirect({
      to: "/projects/$projectId/$environment/denials/$denialId",
      params: { ...scope, denialId },
      replace: true,
    });
  },
});

const denialRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "denials/$denialId",
  loader: ({ context, params: { denialId, ...scope } }) =>
    context.queryClient.ensureQueryData(denialQuery(scope, denialId)).catch((error: unknown) => {
      if (error instanceof ApiProblem && error.status === 404) throw notFound();
      throw error;
    }),
  component: lazyRouteComponent(() => import("./denial-page.tsx"), "DenialPage"),
});

export const requestRoutes = [requestsRoute, keyRoute, whyRoute, denialRoute] as const;
