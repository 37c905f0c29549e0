import { queryOptions } from "@tanstack/react-query";
import type { Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";

export type ApiKey = Item<"listApiKeys">;

export function apiKeysQuery(place: Place) {
  return pagesOf(["api-keys", place], (cursor) =>
    answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/api-keys", {
        params: { path: place, query: { limit: "200", ...cursor } },
      }),
    ),
  );
}

/** One to try a new key with. Null: none is defined yet. */
export function anyFeatureQuery(place: Place) {
  return queryOptions({
    queryKey: ["features", place, "any"],
    queryFn: async () => {
      const { items } = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/features", {
          params: { path: place, query: { limit: "1" } },
        }),
      );
      return items[0]?.key ?? null;
    },
  });
}
