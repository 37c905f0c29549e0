type Line = { readonly id: string };

/**
 * The list and what came since, the newest first and each once: ids sort by time. A tail that is older than the end of the
 * list is left to the list's next page, or there would be a gap above it.
 */
export function mergeTail<Row extends Line>(
  tail: readonly Row[],
  list: { readonly rows: readonly Row[]; readonly hasMore: boolean },
): Row[] {
  const end = list.hasMore ? (list.rows.at(-1)?.id ?? "") : "";
  const known = new Set(list.rows.map(({ id }) => id));
  const fresh = tail.filter(({ id }) => !known.has(id) && id > end);
  return [...fresh, ...list.rows].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}
