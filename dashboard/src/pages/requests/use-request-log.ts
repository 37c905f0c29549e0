import { useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { mergeTail } from "./merge-tail.ts";
import { requestsQuery, tailQuery } from "./queries.ts";
import type { RequestFilters } from "./request-filters.ts";

const POLL_MS = 1_500;

/** The log, and while it is live whatever is added to it. A hidden tab asks nothing. */
export function useRequestLog(place: Place, filters: RequestFilters, isLive: boolean) {
  const pages = useSuspenseInfiniteQuery(requestsQuery(place, filters));
  const from = pages.data.pages[0]?.latestCursor ?? null;
  const tail = useQuery({
    ...tailQuery(place, filters, from),
    enabled: isLive,
    refetchInterval: POLL_MS,
  });
  const tailItems = tail.data?.items ?? [];
  const rows = mergeTail(tailItems, {
    rows: pages.data.pages.flatMap(({ items }) => items),
    hasMore: pages.hasNextPage,
  });
  return { pages, rows, newIds: new Set(tailItems.map(({ id }) => id)), error: isLive ? tail.error : null };
}
