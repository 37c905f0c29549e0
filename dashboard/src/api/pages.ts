import { infiniteQueryOptions } from "@tanstack/react-query";

type Page<Line> = { items: Line[]; nextCursor: string | null };

/** A list that is read page by page, by the cursor that each page ends with. */
export function pagesOf<Line>(
  key: readonly unknown[],
  readPage: (cursor: { cursor?: string }) => Promise<Page<Line>>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => readPage(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Line>) => last.nextCursor,
  });
}
