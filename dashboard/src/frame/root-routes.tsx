import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, notFound, Outlet, redirect } from "@tanstack/react-router";
import type { Environment } from "../api/answer.ts";
import { hasEnvironment, projectsQuery } from "../api/projects.ts";
import { sessionQuery, setupQuery } from "../api/session.ts";
import { PageError, PageNotFound } from "./error-pages.tsx";
import { Frame } from "./frame.tsx";
import { findLastScope, rememberScope } from "./last-scope.ts";

// Parent routes. Each feature folder has its own routes; router.tsx combines them.

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: PageError,
  notFoundComponent: PageNotFound,
});

/** Parent of all pages that need a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session !== null) return { session };
    const { isNeeded } = await context.queryClient.fetchQuery(setupQuery);
    if (isNeeded) throw redirect({ to: "/setup" });
    throw redirect({ to: "/log-in", search: location.href === "/" ? {} : { next: location.href } });
  },
  loader: ({ context }) => context.queryClient.ensureQueryData(projectsQuery),
  component: Frame,
});

export const startPageRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  beforeLoad: async ({ context }) => {
    const scope = findLastScope(await context.queryClient.ensureQueryData(projectsQuery));
    if (scope === null) throw redirect({ to: "/welcome" });
    throw redirect({ to: "/projects/$projectId/$environment", params: scope });
  },
});

/** Parent of all pages for one project and environment. */
export const scopeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "projects/$projectId/$environment",
  params: {
    parse: ({ projectId, environment }) => ({ projectId, environment: readEnvironment(environment) }),
    stringify: (params) => params,
  },
  beforeLoad: async ({ context, params }) => {
    const projects = await context.queryClient.ensureQueryData(projectsQuery);
    const project = projects.find(({ id }) => id === params.projectId);
    if (project === undefined || !hasEnvironment(project, params.environment)) throw notFound();
    rememberScope(params);
  },
  // Inside the frame, so that the navigation stays visible.
  notFoundComponent: PageNotFound,
});

/** Parent of the workspace pages. */
export const workspaceRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "workspace",
});

function readEnvironment(text: string): Environment {
  if (text !== "test" && text !== "live") throw notFound();
  return text;
}

/** Time before a page shows its own placeholders. */
const WAIT_MS = 200;

/** For loaders of pages whose parts show their own placeholders: waits for the data, but not long. */
export async function waitBriefly(data: Promise<unknown>): Promise<void> {
  await Promise.race([data, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
}
