import type { Query, QueryCache } from "@tanstack/react-query";

/** Age of the oldest visible data that failed to refresh; null if everything is fresh. */
export function findStale(queries: QueryCache): number | null {
  const stale = queries.findAll({ type: "active", predicate: isStale });
  return stale.length === 0 ? null : Math.min(...stale.map(({ state }) => state.dataUpdatedAt));
}

/** Skips failed next pages and queries whose component shows its own errors. */
function isStale({ state, meta }: Query): boolean {
  const isNextPage = state.fetchMeta?.fetchMore !== undefined;
  return (
    state.status === "error" && state.data !== undefined && !isNextPage && meta?.["showsOwnErrors"] !== true
  );
}
