import { queryOptions } from "@tanstack/react-query";
import { type Item, type Place, placeOf } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

// What the catalog's pages edit and others choose from: cached once, so that an edit refreshes it everywhere.

export type PlanSummary = Item<"listPlans">;
export type Pool = Item<"listPools">;
export type Feature = Item<"listFeatures">;

/** Archived ones too: somebody may still have one. */
export function plansQuery(place: Place) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/plans", {
    params: { path: placeOf(place) },
  });
}

export function poolsQuery(place: Place) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/pools", {
    params: { path: placeOf(place) },
  });
}

/** Archived ones too: they were used once. */
export function featuresQuery(place: Place) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/features", {
    params: { path: placeOf(place) },
  });
}

export function featureNamesQuery(place: Place) {
  return queryOptions({
    ...featuresQuery(place),
    select: (features) => new Map(features.map(({ key, name }) => [key, name])),
  });
}
