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
