import { queryOptions } from "@tanstack/react-query";
import { type Answer, type Item, type Scope, scopeOf } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api, queryOf, taggedAnswerOf } from "../../api/client.ts";
import { wholeListOf } from "../../api/lists.ts";
import { refresh } from "../../api/use-write.ts";
import { choice, searchOf, text } from "../../format/search.ts";

export {
  type Feature,
  featuresQuery,
  type PlanSummary,
  type Pool,
  plansQuery,
  poolsQuery,
} from "../../api/catalog-lists.ts";

const FILTERS = { search: text(), show: choice(["archived", "all"]) };

export const readPlanSearch = searchOf(FILTERS);
export const readPromoteSearch = searchOf({ archive: choice([true]) });
export const readEventKeySearch = searchOf({ search: text(), show: choice(["unnamed", "named"]) });
export const readFeatureSearch = searchOf({
  ...FILTERS,
  // `key` opens a feature. `define` opens the create dialog with this key. Other pages use both in links.
  key: text(),
  define: (value) => (typeof value === "string" ? value : undefined),
});

export type Plan = Answer<"readPlan">;
export type PlanVersion = Plan["versions"][number];
export type PlanDiff = Answer<"diffPlan">;
export type EventKey = Item<"listEventKeys">;

const FEATURE_PATH = "/manage/v1/projects/{projectId}/{environment}/features/{key}";
const PLAN_PATH = "/manage/v1/projects/{projectId}/{environment}/plans/{key}";

export function featureQuery(scope: Scope, key: string) {
  const params = { path: { ...scopeOf(scope), key } };
  return queryOptions({
    queryKey: ["get", FEATURE_PATH, params],
    queryFn: () => taggedAnswerOf(api.GET(FEATURE_PATH, { params })),
    // An edit must start from the current version.
    staleTime: 0,
  });
}

export function eventKeysQuery(scope: Scope) {
  return wholeListOf("/manage/v1/projects/{projectId}/{environment}/event-keys", {
    params: { path: scopeOf(scope) },
  });
}

export function planQuery(scope: Scope, key: string) {
  const params = { path: { ...scopeOf(scope), key } };
  return queryOptions({
    queryKey: ["get", PLAN_PATH, params],
    queryFn: () => taggedAnswerOf(api.GET(PLAN_PATH, { params })),
    staleTime: 0,
  });
}

/** A plan, the diff of its draft, and the ETag that ties publishing to this review. */
export function planReviewQuery(scope: Scope, key: string) {
  const params = { path: { ...scopeOf(scope), key } };
  return queryOptions({
    queryKey: ["get", PLAN_PATH, params, "review"],
    queryFn: async () => {
      // Read the plan first: if the draft changes before the diff is read, publishing fails because the ETag is older.
      const { value: plan, etag } = await taggedAnswerOf(api.GET(PLAN_PATH, { params }));
      if (plan.draft === null) return { plan, etag, diff: null };
      const diff = await answerOf(api.GET(`${PLAN_PATH}/diff`, { params }));
      return { plan, etag, diff };
    },
    staleTime: 0,
  });
}

/** The effect of promoting Test to Live, or the reason why promotion is blocked. */
export function promotionQuery(projectId: string, archiveMissing: boolean) {
  const path = "/manage/v1/projects/{projectId}/promote/diff";
  return queryOptions({
    queryKey: ["get", path, projectId, archiveMissing],
    queryFn: async () => {
      try {
        const diff = await answerOf(
          api.POST(path, { params: { path: { projectId } }, body: { archiveMissing } }),
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

export const CATALOG_PATH = "/manage/v1/projects/{projectId}/{environment}/catalog";

export function catalogDocumentQuery(scope: Scope) {
  return queryOf("get", CATALOG_PATH, { params: { path: scopeOf(scope) } }, { staleTime: 0 });
}

/** Catalog resources refer to each other, so every edit refreshes the whole catalog. */
export function refreshCatalog(): Promise<void> {
  return refresh("features", "pools", "event-keys", "plans", "catalog", "promote");
}
