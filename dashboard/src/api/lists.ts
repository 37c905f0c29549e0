import { InfiniteQueryObserver, infiniteQueryOptions, type QueryClient } from "@tanstack/react-query";

type AnyPage = { items: unknown[]; nextCursor: string | null };

/** A list that is read page by page, by the cursor that each page ends with. */
export function pagesOf<Page extends AnyPage>(
  key: readonly unknown[],
  readPage: (cursor: { cursor?: string }) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => readPage(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page) => last.nextCursor,
  });
}

/** Far enough back for what people follow a link to. */
const PAGES_MAX = 32;

/** Reads on until the line that somebody came for is there, or the list ends. */
export async function readUntil<Page extends AnyPage>(
  queryClient: QueryClient,
  list: ReturnType<typeof pagesOf<Page>>,
  isSought: (line: Page["items"][number]) => boolean,
): Promise<void> {
  const observer = new InfiniteQueryObserver(queryClient, list);
  let { pages } = await queryClient.ensureInfiniteQueryData(list);
  while (pages.length < PAGES_MAX) {
    const isEnd = pages.at(-1)?.nextCursor === null;
    if (isEnd || pages.some(({ items }) => items.some(isSought))) return;
    const { data, error } = await observer.fetchNextPage();
    if (data === undefined || error !== null) return;
    pages = data.pages;
  }
}

type Page<Line> = { items: Line[]; nextCursor: string | null };

/** All pages of a list that is short by nature, such as a catalog's: it can then be filtered and counted where it is shown. */
export async function wholeList<Line>(
  readPage: (query: { limit: string; cursor?: string }) => Promise<Page<Line>>,
): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Line> = await readPage({ limit: "200", ...(cursor === null ? {} : { cursor }) });
    lines.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return lines;
}
