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
    // With what was asked: while the next answer is awaited, the one before is still shown as what it was.
    queryFn: async ({ signal }) => ({
      asked,
      usage: await answerOf(api.GET(USAGE_PATH, { params, signal })),
    }),
    staleTime: 15_000,
    // What was there stays until the next is, so that nothing jumps.
    placeholderData: keepPreviousData,
    // What a page asked before it opened, and was refused, is not asked again by its opening.
    retryOnMount: false,
    meta: { tellsFailures: true },
  });
}

/** As the API takes it; also for who does the same by curl. */
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
