import { type InfiniteData, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Scope } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { featuresQuery } from "../../api/catalog-lists.ts";
import { answerOf, api, queryOf } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";
import { rangeToTimes } from "../../format/usage-range.ts";
import { readClock } from "../../ui/time.tsx";
import type { RequestFilters } from "./request-filters.ts";

export type LoggedRequest = Item<"listRequests">;

type LogPage = Answer<"listRequests">;

const REQUESTS_PATH = "/manage/v1/projects/{projectId}/{environment}/requests";

export function requestsQuery(scope: Scope, filters: RequestFilters) {
  return infiniteQueryOptions({
    ...pagesOf(REQUESTS_PATH, { params: { path: scope, query: toQuery(filters) } }),
    // A refetch on focus would move the rows.
    refetchOnWindowFocus: false,
  });
}

function toQuery(filters: RequestFilters) {
  const { from, to, ...others } = rangeToTimes(filters, Date.now(), readClock());
  return {
    ...others,
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  };
}

/** Requests that arrived after the list was loaded, newest first. */
type Tail = { readonly items: readonly LoggedRequest[]; readonly latestCursor: string | null };

const TAIL_MAX = 500;

/** Polls for new requests. If too many have arrived, reloads the list, so that there is no gap. */
export function tailQuery(scope: Scope, filters: RequestFilters, from: string | null) {
  return queryOptions({
    queryKey: ["tail", REQUESTS_PATH, scope, filters],
    queryFn: async ({ client, queryKey, signal }): Promise<Tail> => {
      const before = client.getQueryData<Tail>(queryKey) ?? { items: [], latestCursor: from };
      const after = before.latestCursor === null ? {} : { after: before.latestCursor };
      const { items, nextCursor, latestCursor } = await readPage(
        scope,
        { ...toQuery(filters), ...after, limit: "200" },
        signal,
      );
      if (nextCursor === null && before.items.length + items.length <= TAIL_MAX) {
        return { items: [...items, ...before.items], latestCursor };
      }
      const first = await readPage(scope, toQuery(filters), signal);
      const anew: InfiniteData<LogPage, string | null> = { pages: [first], pageParams: [null] };
      client.setQueryData(requestsQuery(scope, filters).queryKey, anew);
      return { items: [], latestCursor: first.latestCursor };
    },
    staleTime: 0,
    meta: { showsOwnErrors: true },
  });
}

type Wanted = ReturnType<typeof toQuery> & { after?: string; limit?: string };

function readPage(scope: Scope, query: Wanted, signal: AbortSignal): Promise<LogPage> {
  return answerOf(api.GET(REQUESTS_PATH, { params: { path: scope, query }, signal }));
}

export type KeyHistory = Answer<"readKey">;

export const KEY_PATH = "/manage/v1/projects/{projectId}/{environment}/keys/{idempotencyKey}";

/** History of a key; null if it was never used in this project. */
export function keyQuery(scope: Scope, idempotencyKey: string) {
  const params = { path: { ...scope, idempotencyKey } };
  return queryOptions({
    queryKey: ["get", KEY_PATH, params],
    queryFn: async (): Promise<KeyHistory | null> => {
      try {
        return await answerOf(api.GET(KEY_PATH, { params }));
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 404) return null;
        throw error;
      }
    },
  });
}

export type Denial = Answer<"explainDenial">;

export const DENIAL_PATH = "/manage/v1/projects/{projectId}/{environment}/denials/{denialId}";

/** Never cached: whether the request would be allowed now can change. */
export function denialQuery(scope: Scope, denialId: string) {
  return queryOf("get", DENIAL_PATH, { params: { path: { ...scope, denialId } } }, { staleTime: 0 });
}

/** Active features for a test request. */
export function activeFeaturesQuery(scope: Scope) {
  return queryOptions({
    ...featuresQuery(scope),
    select: (features) => features.filter(({ archivedAt }) => archivedAt === null),
  });
}

export type Customer = Answer<"readCustomer">;

/** The current state of the customer. An unknown customer is an error with status 404. */
export function customerNowQuery(scope: Scope, customerId: string) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}",
    { params: { path: { ...scope, customerId } } },
    { staleTime: 0, retry: false, meta: { showsOwnErrors: true } },
  );
}

/** The versions of the customer's plan, up to the customer's version. */
export function planNowQuery(scope: Scope, plan: Customer["plan"]) {
  const { key, version } = plan ?? { key: "", version: 0 };
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/plans/{key}",
    { params: { path: { ...scope, key }, query: { before: String(version + 1) } } },
    { meta: { showsOwnErrors: true } },
  );
}
