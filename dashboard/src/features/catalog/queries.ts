import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { wholeList } from "../../api/lists.ts";
import { taggedAnswerOf } from "../../api/tagged.ts";

export { type PlanSummary, type Pool, plansQuery, poolsQuery } from "../../api/catalog-lists.ts";

// A route's own parameters are more than a place: a key made of them would be nobody else's.

export type Feature = Answer<"readFeature">;
export type Plan = Answer<"readPlan">;
export type PlanVersion = Plan["versions"][number];
export type PlanDiff = Answer<"diffPlan">;
export type EventKey = Item<"listEventKeys">;

export function featuresQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["features", place],
    queryFn: () =>
      wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/features", {
            params: { path: place, query },
          }),
        ),
      ),
  });
}

export function featureQuery({ projectId, environment }: Place, key: string) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["feature", place, key],
    queryFn: () =>
      taggedAnswerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/features/{key}", {
          params: { path: { ...place, key } },
        }),
      ),
    // Who is about to change it begins with what it is now.
    staleTime: 0,
  });
}

export function eventKeysQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["event-keys", place],
    queryFn: () =>
      wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/event-keys", {
            params: { path: place, query },
          }),
        ),
      ),
  });
}

export function planQuery({ projectId, environment }: Place, key: string) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["plan", place, key],
    queryFn: () =>
      taggedAnswerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
          params: { path: { ...place, key } },
        }),
      ),
    staleTime: 0,
  });
}

/** A plan's draft, what publishing it would do, and the name of just that: it is published as it was looked at. */
export function planReviewQuery({ projectId, environment }: Place, key: string) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["plan", place, key, "review"],
    queryFn: async () => {
      // In this order: a draft that changes in between is found out by the older name.
      const { value: plan, etag } = await taggedAnswerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans/{key}", {
          params: { path: { ...place, key } },
        }),
      );
      if (plan.draft === null) return { plan, etag, diff: null };
      const diff = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans/{key}/diff", {
          params: { path: { ...place, key } },
        }),
      );
      return { plan, etag, diff };
    },
    staleTime: 0,
  });
}

/** What promoting would do to live; or why it cannot be done. */
export function promotionQuery(projectId: string, archiveMissing: boolean) {
  return queryOptions({
    queryKey: ["catalog", projectId, "promotion", archiveMissing],
    queryFn: async () => {
      try {
        const diff = await answerOf(
          api.POST("/manage/v1/projects/{projectId}/promote/diff", {
            params: { path: { projectId } },
            body: { archiveMissing },
          }),
        );
        return { kind: "possible", diff } as const;
      } catch (problem) {
        const isRefusal = problem instanceof ApiProblem && BLOCKING.has(problem.code);
        if (isRefusal) return { kind: "blocked", problem } as const;
        throw problem;
      }
    },
    staleTime: 0,
  });
}

const BLOCKING = new Set(["unknown_key", "in_use"]);

export function catalogDocumentQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["catalog", place, "document"],
    queryFn: () =>
      answerOf(api.GET("/manage/v1/projects/{projectId}/{environment}/catalog", { params: { path: place } })),
    staleTime: 0,
  });
}

const CATALOG_NOUNS = new Set(["features", "feature", "pools", "event-keys", "plans", "plan", "catalog"]);

/** After any edit: features, plans and costs speak of each other. */
export function refreshCatalog(queryClient: QueryClient): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [noun] }) => typeof noun === "string" && CATALOG_NOUNS.has(noun),
  });
}
