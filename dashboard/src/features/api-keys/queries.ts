import type { Answer, Item, Scope } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";

export type ApiKey = Item<"listApiKeys">;

export function apiKeysQuery(scope: Scope) {
  return pagesOf("/manage/v1/projects/{projectId}/{environment}/api-keys", {
    params: { path: scope, query: { limit: "200" } },
  });
}

/** A feature for the example call; null if there is none. */
export function anyFeatureQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/features",
    { params: { path: scope, query: { limit: "1" } } },
    { select: ({ items: [first] }: Answer<"listFeatures">) => first?.key ?? null },
  );
}
