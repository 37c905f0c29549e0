import type { Answer, Item, Place } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";

export type ApiKey = Item<"listApiKeys">;

export function apiKeysQuery(place: Place) {
  return pagesOf("/manage/v1/projects/{projectId}/{environment}/api-keys", {
    params: { path: place, query: { limit: "200" } },
  });
}

/** A feature for the example call; null if there is none. */
export function anyFeatureQuery(place: Place) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/features",
    { params: { path: place, query: { limit: "1" } } },
    { select: ({ items: [first] }: Answer<"listFeatures">) => first?.key ?? null },
  );
}
