import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { setupQuery, signOnQuery } from "../../api/session.ts";
import { readSignOnProblem } from "../../format/sign-on.ts";
import { rootRoute } from "../../frame/root-routes.tsx";

/** `problem` is why single sign-on failed. `local` shows the password form if single sign-on is required. */
type LogInSearch = { next?: string; problem?: string; local?: true };

const logInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "log-in",
  validateSearch: ({ next, problem, local }: Record<string, unknown>): LogInSearch => ({
    // Only local paths, to prevent open redirects.
    ...(typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {}),
    ...readSignOnProblem(problem),
    ...(local === true ? { local } : {}),
  }),
  loader: ({ context }) => context.queryClient.ensureQueryData(signOnQuery),
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
  loader: ({ context }) => context.queryClient.ensureQueryData(signOnQuery),
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "JoinPage"),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "sign-in",
  component: lazyRouteComponent(() => import("./auth-pages.tsx"), "SignInPage"),
});

export const authRoutes = [logInRoute, setupRoute, joinRoute, signInRoute] as const;
