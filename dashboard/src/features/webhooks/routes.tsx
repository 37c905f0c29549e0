import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { choice, searchOf } from "../../format/search.ts";
import { scopeRoute } from "../../frame/root-routes.tsx";
import { deliveriesQuery, readDeliveryFilters, webhooksQuery } from "./queries.ts";

const webhooksRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "webhooks",
  validateSearch: searchOf({ do: choice(["create"]) }),
  loader: ({ context, params }) => context.queryClient.ensureQueryData(webhooksQuery(params)),
  component: lazyRouteComponent(() => import("./webhooks-page.tsx"), "WebhooksPage"),
});

const webhookRoute = createRoute({
  getParentRoute: () => scopeRoute,
  path: "webhooks/$webhookId",
  validateSearch: readDeliveryFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.ensureQueryData(webhooksQuery(params)),
      queryClient.ensureInfiniteQueryData(deliveriesQuery(params, params.webhookId, deps)),
      queryClient.ensureQueryData(poolsQuery(params)),
    ]),
  // Keep the list visible while the next filter result loads.
  pendingMs: 60_000,
  component: lazyRouteComponent(() => import("./webhook-page.tsx"), "WebhookPage"),
});

export const webhookRoutes = [webhooksRoute, webhookRoute] as const;
