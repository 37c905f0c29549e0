import {
  InfiniteQueryObserver,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import type { ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from "openapi-fetch";
import { answerOf, api } from "./client.ts";
import type { paths } from "./manage.gen.d.ts";

type AnyPage = { items: unknown[]; nextCursor: string | null };
type GetPath = ClientPathsWithMethod<typeof api, "get">;
/** Operations that return a page of a list. */
type ListPath = {
  [P in GetPath]: MethodResponse<typeof api, "get", P> extends AnyPage ? P : never;
}[GetPath];
type Page<P extends ListPath> = Extract<MethodResponse<typeof api, "get", P>, AnyPage>;
type Line<P extends ListPath> = Page<P>["items"][number];
type Request<P extends ListPath> = Pick<NonNullable<MaybeOptionalInit<paths[P], "get">>, "params">;
type Cursor = { limit?: string; cursor?: string };

/** Reads one page. The cursor comes from the previous page. */
export function readPage<P extends ListPath>(path: P, request: Request<P>, cursor: Cursor): Promise<Page<P>> {
  // Every list operation accepts limit and cursor.
  const { params } = request as { params?: { query?: object } };
  return answerOf(get<Page<P>>(path, { params: { ...params, query: { ...params?.query, ...cursor } } }));
}

/** Accepts any path. The functions that call it accept only valid paths. */
const get = api.GET as <T>(path: string, request: object) => Promise<{ data?: T }>;

/** A list read page by page with cursors. */
export function pagesOf<P extends ListPath>(path: P, request: Request<P>) {
  return pagesBy(["get", path, request], (cursor) => readPage(path, request, cursor));
}

/** Like `pagesOf`, for pages that need more than one call. */
export function pagesBy<P extends AnyPage>(
  key: readonly ["get", ListPath, ...unknown[]],
  read: (cursor: Cursor) => Promise<P>,
) {
  const options = infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: P) => last.nextCursor,
  });
  return { ...options, read };
}

/** Reads all rows of a list, for a download. */
export function readAllOf<P extends AnyPage>({ read }: { read: (cursor: Cursor) => Promise<P> }) {
  return async (onRead: (count: number) => void): Promise<P["items"]> =>
    (await readPages(read, Number.POSITIVE_INFINITY, onRead)).items;
}

/** Reads a short list completely, for example the catalog, so that pages can filter and count it. */
export function wholeListOf<P extends ListPath>(path: P, request: Request<P>) {
  return queryOptions({
    queryKey: ["get", path, request, "all"],
    queryFn: async () => (await readList(path, request)).items,
  });
}

// biome-ignore lint/suspicious/noConfusingVoidType: most callers only show the progress
type OnRead = (count: number) => boolean | void;

/**
 * Reads a list from the start, up to `pagesMax` pages. `onRead` gets the number of rows read so far. If it returns false, reading stops.
 */
export function readList<P extends ListPath>(
  path: P,
  request: Request<P>,
  pagesMax = Number.POSITIVE_INFINITY,
  onRead: OnRead = () => {},
): Promise<{ items: Line<P>[]; isWhole: boolean }> {
  return readPages((cursor) => readPage(path, request, cursor), pagesMax, onRead);
}

async function readPages<P extends AnyPage>(
  read: (cursor: Cursor) => Promise<P>,
  pagesMax: number,
  onRead: OnRead,
): Promise<{ items: P["items"]; isWhole: boolean }> {
  const items: P["items"] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const found: P = await read({ limit: "200", ...(cursor === null ? {} : { cursor }) });
    items.push(...found.items);
    cursor = found.nextCursor;
    if (cursor === null) return { items, isWhole: true };
    if (onRead(items.length) === false) break;
  }
  return { items, isWhole: false };
}

/** Maximum number of pages to search for a linked row. */
const PAGES_MAX = 32;

/** Loads pages until the linked row is found or the list ends. */
export async function readUntil<P extends AnyPage>(
  queryClient: QueryClient,
  list: ReturnType<typeof pagesBy<P>>,
  isLinked: (line: P["items"][number]) => boolean,
): Promise<void> {
  const observer = new InfiniteQueryObserver(queryClient, list);
  let { pages } = await queryClient.ensureInfiniteQueryData(list);
  while (pages.length < PAGES_MAX) {
    const isEnd = pages.at(-1)?.nextCursor === null;
    if (isEnd || pages.some(({ items }) => items.some(isLinked))) return;
    const { data, error } = await observer.fetchNextPage();
    if (data === undefined || error !== null) return;
    pages = data.pages;
  }
}
