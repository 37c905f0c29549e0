import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Place } from "../api/answer.ts";
import { mayActAs, type Role, type Session, sessionQuery } from "../api/session.ts";

/** The project and environment of the address. */
export function usePlace(): Place {
  const place = useOptionalPlace();
  if (place === null) throw new Error("this page is within no environment");
  return place;
}

export function useOptionalPlace(): Place | null {
  const { projectId, environment } = useParams({ strict: false });
  return projectId !== undefined && (environment === "test" || environment === "live")
    ? { projectId, environment }
    : null;
}

/** Who is signed in. Only for pages that nobody reaches otherwise. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error("nobody is signed in");
  return data;
}

/** Whether to offer something at all; the API decides again, for itself. */
export function useMayActAs(role: Role): boolean {
  return mayActAs(useSession().role, role);
}
