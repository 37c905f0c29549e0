import { queryOptions } from "@tanstack/react-query";
import type { Item, Place } from "./answer.ts";
import { answerOf, api } from "./client.ts";
import { wholeList } from "./lists.ts";

// What the catalog's pages edit and others choose from: cached once, so that an edit refreshes it everywhere.

export type PlanSummary = Item<"listPlans">;
export type Pool = Item<"listPools">;

/** Archived ones too: somebody may still have one. */
export function plansQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["plans", place],
    queryFn: () =>
      wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/plans", { params: { path: place, query } }),
        ),
      ),
  });
}

export function poolsQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["pools", place],
    queryFn: () =>
      wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/pools", { params: { path: place, query } }),
        ),
      ),
  });
}
