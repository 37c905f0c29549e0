import { queryOptions } from "@tanstack/react-query";
import { type Item, type Place, placeOf } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

// Shared by the catalog pages and by pages that choose from the catalog, so that one edit refreshes all of them.

export type PlanSummary = Item<"listPlans">;
export type Pool = Item<"listPools">;
export type Feature = Item<"listFeatures">;

/** Includes archived plans, because customers can still be on them. */
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

/** Includes archived features, because history refers to them. */
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
