import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { UsageSettings } from "../format/usage-search.ts";
import { type Answer, type Scope, scopeOf } from "./answer.ts";
import { answerOf, api } from "./client.ts";

export type Usage = Answer<"chartUsage">;

export const USAGE_PATH = "/manage/v1/projects/{projectId}/{environment}/usage";

export function usageQuery(scope: Scope, settings: UsageSettings) {
  const params = { path: scopeOf(scope), query: toQuery(settings) };
  return queryOptions({
    queryKey: ["get", USAGE_PATH, params],
    // Return the settings too, so that a chart shown while the next one loads keeps its own labels.
    queryFn: async ({ signal }) => ({
      settings,
      usage: await answerOf(api.GET(USAGE_PATH, { params, signal })),
    }),
    staleTime: 15_000,
    // Keep the previous chart while the next one loads, to avoid layout jumps.
    placeholderData: keepPreviousData,
    // If the route's prefetch failed, mounting the page must not retry it.
    retryOnMount: false,
    meta: { showsOwnErrors: true },
  });
}

/** Query parameters of the API call, also shown as curl. */
export function toQuery({
  source,
  by,
  from,
  to,
  bucket,
  groupBy,
  field,
  top,
  timeZone,
  filters,
}: UsageSettings) {
  return {
    source,
    by,
    bucket,
    timeZone,
    from: new Date(from).toISOString(),
    ...(to === null ? {} : { to: new Date(to).toISOString() }),
    ...groupOf(groupBy, field),
    limit: String(top),
    ...filters,
  };
}

function groupOf(groupBy: UsageSettings["groupBy"], field: string | null) {
  if (groupBy === "nothing") return {};
  if (groupBy !== "metadata") return { groupBy };
  return field === null ? {} : { groupBy, metadataField: field };
}
