import { queryOptions } from "@tanstack/react-query";
import { type Item, type Scope, scopeOf } from "./answer.ts";
import { wholeListOf } from "./lists.ts";

// Queries shared by the catalog pages and by pages that select catalog items, so that one edit refreshes all of these pages.

export type PlanSummary = Item<"listPlans">;
export type Pool = Item<"listPools">;
export type Feature = Item<"listFeatures">;

/** Includes archived plans, because customers can still be on them. */
export function plansQuery(scope: Scope) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/plans", {
    params: { path: scopeOf(scope) },
  });
}

export function poolsQuery(scope: Scope) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/pools", {
    params: { path: scopeOf(scope) },
  });
}

/** Includes archived features, because past requests and entries can refer to them. */
export function featuresQuery(scope: Scope) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/features", {
    params: { path: scopeOf(scope) },
  });
}

export function planNamesQuery(scope: Scope) {
  return queryOptions({
    ...plansQuery(scope),
    select: (plans) => new Map(plans.map(({ key, name }) => [key, name])),
  });
}

export function poolNamesQuery(scope: Scope) {
  return queryOptions({
    ...poolsQuery(scope),
    select: (pools) => new Map(pools.map(({ key, name }) => [key, name])),
  });
}

/** Event keys with a name. */
export function eventNamesQuery(scope: Scope) {
  return queryOptions({
    ...wholeListOf("/manage/v1/projects/{projectId}/{environment}/event-keys", {
      params: { path: scopeOf(scope), query: { named: "true" } },
    }),
    select: (events) => new Map(events.map(({ key, name }) => [key, name ?? key])),
  });
}

export function featureNamesQuery(scope: Scope) {
  return queryOptions({
    ...featuresQuery(scope),
    select: (features) => new Map(features.map(({ key, name }) => [key, name])),
  });
}
