import type { Query, QueryCache } from "@tanstack/react-query";

/** From when the oldest is of what is shown and could not be read anew. Null: all is as fresh as it should be. */
export function findStale(queries: QueryCache): number | null {
  const stale = queries.findAll({ type: "active", predicate: isStale });
  return stale.length === 0 ? null : Math.min(...stale.map(({ state }) => state.dataUpdatedAt));
}

/** A list whose next page failed is as fresh as before, and says so at its end; so does what tells of its failures itself. */
function isStale({ state, meta }: Query): boolean {
  const isNextPage = state.fetchMeta?.fetchMore !== undefined;
  return (
    state.status === "error" && state.data !== undefined && !isNextPage && meta?.["tellsFailures"] !== true
  );
}
