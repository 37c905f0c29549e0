import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "./answer.ts";
import { ApiProblem } from "./api-problem.ts";
import { answerOf, api, queryOf } from "./client.ts";

export type Session = Answer<"readSession">;
export type Role = Session["role"];

const RANKS: readonly Role[] = ["viewer", "operator", "admin", "owner"];

export function mayActAs(role: Role, needed: Role): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
}

/** The member or token that is logged in; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ["get", "/manage/v1/session"],
  queryFn: async (): Promise<Session | null> => {
    try {
      return await answerOf(api.GET("/manage/v1/session"));
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const setupQuery = queryOf("get", "/manage/v1/setup");

/** Whether members can, or must, use single sign-on. */
export const signOnQuery = queryOf("get", "/manage/v1/single-sign-on", {}, { staleTime: 60_000 });

/** The provider's log-out page, after a logout. Kept in memory, because a link in the address could lead anywhere. */
let providerLogOut: string | null = null;

/** Ends the session. The login page then offers to log out of the single sign-on provider too. */
export async function logOut(everywhere: boolean): Promise<void> {
  const query = everywhere ? ({ everywhere: "true" } as const) : {};
  const { providerLogOutUrl } = await answerOf(api.DELETE("/manage/v1/session", { params: { query } }));
  providerLogOut = providerLogOutUrl;
}

export function readProviderLogOut(): string | null {
  return providerLogOut;
}
