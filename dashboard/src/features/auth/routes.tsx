import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { setupQuery } from "../../api/session.ts";
import { rootRoute } from "../../frame/root-routes.tsx";

const logInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "log-in",
  // Only local paths, to prevent open redirects.
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {},
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "LogInPage"),
});

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "setup",
  loader: ({ context }) => context.queryClient.fetchQuery(setupQuery),
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "SetupPage"),
});

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "join",
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "JoinPage"),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "sign-in",
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "SignInPage"),
});

export const authRoutes = [logInRoute, setupRoute, joinRoute, signInRoute] as const;
