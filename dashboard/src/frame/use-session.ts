import { useSuspenseQuery } from "@tanstack/react-query";
import { mayActAs, type Role, type Session, sessionQuery } from "../api/session.ts";

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
