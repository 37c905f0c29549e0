import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { UsageAsked } from "../format/usage-search.ts";
import { type Answer, type Place, placeOf } from "./answer.ts";
import { answerOf, api } from "./client.ts";

export type Usage = Answer<"chartUsage">;

export const USAGE_PATH = "/manage/v1/projects/{projectId}/{environment}/usage";

export function usageQuery(place: Place, asked: UsageAsked) {
  const params = { path: placeOf(place), query: toQuery(asked) };
  return queryOptions({
    queryKey: ["get", USAGE_PATH, params],
    // Returned together, so that placeholder data is labelled with the query it belongs to.
    queryFn: async ({ signal }) => ({
      asked,
      usage: await answerOf(api.GET(USAGE_PATH, { params, signal })),
    }),
    staleTime: 15_000,
    // Keep the previous chart until the next one arrives, to avoid layout jumps.
    placeholderData: keepPreviousData,
    // If the route's prefetch failed, mounting the page must not retry it.
    retryOnMount: false,
    meta: { tellsFailures: true },
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
}: UsageAsked) {
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

function groupOf(groupBy: UsageAsked["groupBy"], field: string | null) {
  if (groupBy === "nothing") return {};
  if (groupBy !== "metadata") return { groupBy };
  return field === null ? {} : { groupBy, metadataField: field };
}
