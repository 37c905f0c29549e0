import { queryOptions } from "@tanstack/react-query";
import type { Environment } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf, wholeList } from "../../api/lists.ts";
import { type AuditFilters, toAuditQuery } from "../audit/audit-filters.ts";
import type { Entry } from "../audit/entry.ts";

/** All at once, for nearly everybody: who the last owner is can only be told of a whole list. */
export const membersQuery = pagesOf(["members"], (cursor) =>
  answerOf(api.GET("/manage/v1/members", { params: { query: { limit: "200", ...cursor } } })),
);

/** Asked on each opening: it is shown to decide by. */
export function memberAccessQuery(id: string) {
  return queryOptions({
    queryKey: ["members", id, "access"],
    queryFn: () => answerOf(api.GET("/manage/v1/members/{id}/access", { params: { path: { id } } })),
    staleTime: 0,
    gcTime: 0,
  });
}

export const tokensQuery = pagesOf(["tokens"], (cursor) =>
  answerOf(api.GET("/manage/v1/tokens", { params: { query: cursor } })),
);

/** Read on every visit: another browser may have logged in since. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async () => (await answerOf(api.GET("/manage/v1/sessions"))).items,
  staleTime: 0,
});

export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: () => answerOf(api.GET("/manage/v1/workspace")),
});

/** Asked anew on every visit, and with how far its clock is from the one here: the middle of the call is when it was read. */
export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: async () => {
    const askedAt = Date.now();
    const health = await answerOf(api.GET("/manage/v1/health"));
    const clockOffsetMs = Date.parse(health.databaseClock) - (askedAt + Date.now()) / 2;
    return { ...health, clockOffsetMs };
  },
  staleTime: 0,
  meta: { tellsFailures: true },
});

/** Of both environments; null: there is none. */
export function defaultPlansQuery(projectId: string) {
  const read = async (environment: Environment) => {
    const path = { projectId, environment };
    const plans = await wholeList((query) =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/plans", {
          params: { path, query: { ...query, archived: "false" } },
        }),
      ),
    );
    return plans.find(({ isDefault }) => isDefault) ?? null;
  };
  return queryOptions({
    queryKey: ["default-plans", projectId],
    queryFn: async () => ({ test: await read("test"), live: await read("live") }),
    // A plan may have become the default on its own page a moment ago.
    staleTime: 0,
  });
}

/** Filtered pages may hold few lines or none, while there are more behind them: read on, but not for ever. */
const ENOUGH = 25;
const ROUNDS_MAX = 10;

export function auditQuery(filters: AuditFilters) {
  const query = toAuditQuery(filters);
  return pagesOf(["audit", filters], async (from) => {
    const items: Entry[] = [];
    let cursor: { cursor?: string } = from;
    for (let round = 1; ; round += 1) {
      const page = await answerOf(
        api.GET("/manage/v1/audit", { params: { query: { ...query, ...cursor } } }),
      );
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= ENOUGH || round === ROUNDS_MAX) {
        return { items, nextCursor: page.nextCursor };
      }
      cursor = { cursor: page.nextCursor };
    }
  });
}
