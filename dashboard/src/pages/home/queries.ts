import { queryOptions } from "@tanstack/react-query";
import type { Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { wholeList } from "../../api/whole-list.ts";

// Each part of the page asks for itself, so that none waits for another or falls with it.

const REFRESH_MS = 15_000;
const TOLD_IN_PLACE = { tellsFailures: true };

export function summaryQuery(place: Place) {
  return queryOptions({
    queryKey: ["requests", place, "summary"],
    meta: TOLD_IN_PLACE,
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/requests/summary", {
          params: { path: place, query: { hours: "24" } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
}

export function latestRequestsQuery(place: Place) {
  return queryOptions({
    queryKey: ["requests", place, "latest"],
    meta: TOLD_IN_PLACE,
    queryFn: async () =>
      (
        await answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/requests", {
            params: { path: place, query: { limit: "10" } },
          }),
        )
      ).items,
    refetchInterval: REFRESH_MS,
  });
}

export function hasCustomersQuery(place: Place) {
  return queryOptions({
    queryKey: ["customers", place, "any"],
    queryFn: async () => (await listCustomers(place, { limit: "1" })).items.length > 0,
    refetchInterval: (query) => (query.state.data === true ? false : REFRESH_MS),
  });
}

type Customer = Item<"listCustomers">;

const SHOWN_MAX = 6;
const PAGES_MAX = 4;

/** What counts as a low balance, unless the address says otherwise. */
export const BALANCE_BELOW = 100;

/** A page of a narrowed list may hold fewer than it could, even none: some more are read, but not the whole list. */
export function lowBalancesQuery(place: Place, balanceBelow: number) {
  return queryOptions({
    queryKey: ["customers", place, "low", balanceBelow],
    meta: TOLD_IN_PLACE,
    queryFn: async () => {
      const found: Customer[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX && found.length <= SHOWN_MAX; page += 1) {
        const { items, nextCursor } = await listCustomers(place, {
          limit: "50",
          balanceBelow: String(balanceBelow),
          ...(cursor === null ? {} : { cursor }),
        });
        found.push(...items);
        cursor = nextCursor;
        if (cursor === null) break;
      }
      return { customers: found.slice(0, SHOWN_MAX), hasMore: cursor !== null || found.length > SHOWN_MAX };
    },
  });
}

type CustomerFilters = { limit: string; cursor?: string; balanceBelow?: string; search?: string };

export function listCustomers(place: Place, query: CustomerFilters) {
  return answerOf(
    api.GET("/manage/v1/projects/{projectId}/{environment}/customers", { params: { path: place, query } }),
  );
}

/** How many plans an environment offers. */
export function planCountQuery(place: Place) {
  return queryOptions({
    queryKey: ["plans", place, "count"],
    queryFn: async () => {
      const plans = await wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/plans", {
            params: { path: place, query: { ...query, archived: "false" } },
          }),
        ),
      );
      return plans.length;
    },
  });
}

/** Among the latest events: keys that nobody has named yet. */
export function unnamedEventsQuery(place: Place) {
  return queryOptions({
    queryKey: ["event-keys", place, "unnamed"],
    meta: TOLD_IN_PLACE,
    queryFn: async () =>
      (
        await answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/event-keys", {
            params: { path: place, query: { named: "false" } },
          }),
        )
      ).items,
  });
}
