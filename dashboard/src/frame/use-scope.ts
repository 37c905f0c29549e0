import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Scope } from "../api/answer.ts";
import { eventNamesQuery, featureNamesQuery, poolNamesQuery } from "../api/catalog-lists.ts";
import { mayActAs, mayActInProject, type Role, roleIn, type Session, sessionQuery } from "../api/session.ts";

/** The project and environment in the URL. */
export function useScope(): Scope {
  const scope = useOptionalScope();
  if (scope === null) throw new Error("this page has no environment");
  return scope;
}

export function useOptionalScope(): Scope | null {
  const { projectId, environment } = useParams({ strict: false });
  return projectId !== undefined && (environment === "test" || environment === "live")
    ? { projectId, environment }
    : null;
}

/** Returns the name of a pool by its key, or the key until the pools are loaded. */
export function usePoolNames(): (key: string) => string {
  const { data: names } = useQuery(poolNamesQuery(useScope()));
  return (key) => names?.get(key) ?? key;
}

/** Returns the name of a feature by its key, or the key if the feature is unknown or not loaded yet. */
export function useFeatureNames(): (key: string) => string {
  const { data: names } = useQuery(featureNamesQuery(useScope()));
  return (key) => names?.get(key) ?? key;
}

/** The name of an event key. Returns the key if it has no name or the names are not loaded yet. */
export function useEventNames(): (key: string) => string {
  const { data: names } = useQuery(eventNamesQuery(useScope()));
  return (key) => names?.get(key) ?? key;
}

/** The current session. Only for pages that need a session. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error("nobody is logged in");
  return data;
}

/** The role that applies on this page: in its environment, or in the whole workspace. */
export function useRole(): Role | null {
  return roleIn(useSession(), useOptionalScope());
}

/** Whether to show an action on this page. The API checks the role again. */
export function useMayActAs(role: Role): boolean {
  return mayActAs(useRole(), role);
}

/** Whether to show an action that needs the role in both environments of the page's project. */
export function useMayActInProject(role: Role): boolean {
  return mayActInProject(useSession(), useScope().projectId, role);
}
