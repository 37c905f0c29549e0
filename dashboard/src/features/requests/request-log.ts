import { useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Scope } from "../../api/answer.ts";
import { requestsQuery, tailQuery } from "./queries.ts";
import { mergeTail, type RequestFilters } from "./request-filters.ts";

const POLL_MS = 1_500;

/** The log, extended by the live tail. A hidden tab does not poll. */
export function useRequestLog(scope: Scope, filters: RequestFilters, isLive: boolean) {
  const pages = useSuspenseInfiniteQuery(requestsQuery(scope, filters));
  const from = pages.data.pages[0]?.latestCursor ?? null;
  const tail = useQuery({
    ...tailQuery(scope, filters, from),
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

type Line = { readonly id: string };

type Held<Row> = {
  readonly shown: readonly Row[];
  /** Number of rows not shown yet. */
  readonly held: number;
  readonly release: () => void;
};

/** Holds back new rows while the user has scrolled down or expanded a row, so that nothing moves. */
export function useHeldRows<Row extends Line>(rows: readonly Row[], isReading: boolean): Held<Row> {
  const isAtTop = useIsAtTop();
  const newest = rows[0]?.id ?? null;
  const [newestShown, setNewestShown] = useState(newest);
  const isFollowing = isAtTop && !isReading;
  if (isFollowing && newestShown !== newest) setNewestShown(newest);
  // findIndex returns -1 after a filter change, so the whole new list is shown.
  const held = isFollowing
    ? 0
    : Math.max(
        0,
        rows.findIndex(({ id }) => id === newestShown),
      );
  return {
    shown: held === 0 ? rows : rows.slice(held),
    held,
    release() {
      setNewestShown(newest);
      window.scrollTo({ top: 0 });
    },
  };
}

const TOP_PX = 4;

function useIsAtTop(): boolean {
  const [isAtTop, setAtTop] = useState(true);
  // Not read while rendering: that would make the browser lay out the page again each time.
  useEffect(() => {
    const update = (): void => setAtTop(window.scrollY <= TOP_PX);
    update();
    window.addEventListener("scroll", update, { passive: true });
    return () => window.removeEventListener("scroll", update);
  }, []);
  return isAtTop;
}
