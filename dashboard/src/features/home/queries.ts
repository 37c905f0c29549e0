import { queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { wholeList } from "../../api/lists.ts";

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

function listCustomers(place: Place, query: CustomerFilters) {
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

type SupportCase = { readonly customerId: string; readonly from: string; readonly question: string };

/** What customers of the demo wrote: what they know, and not what happened. */
export const SUPPORT_CASES: readonly SupportCase[] = [
  {
    customerId: "org_1009",
    from: "Fernweh Films",
    question: "We rendered one trailer, and it cost more than we expected. Can you look?",
  },
  {
    customerId: "org_1031",
    from: "Northlight Robotics",
    question:
      "We paid for credits, payment pi_3Sf8QmKz41NorthlightRbt, and are still turned away. Where are they?",
  },
  {
    customerId: "org_1012",
    from: "Brightpath Learning",
    question: "On one day our HD exports stopped working before noon. We are on Pro. Why?",
  },
];

/** `purser dev` puts it into the test environment alone; it is known by the one whose name and id go together. */
export function isDemoQuery(place: Place) {
  return queryOptions({
    queryKey: ["customers", place, "demo"],
    queryFn: async () => {
      if (place.environment !== "test") return false;
      const { items } = await listCustomers(place, { limit: "1", search: "org_1031" });
      return items.some(
        ({ customerId, name }) => customerId === "org_1031" && name === "Northlight Robotics",
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export type Hour = Answer<"summarizeRequests">["byHour"][number];

/** What is counted, in the order in which it is stacked; the names tell them apart as well as the colours. */
export const SERIES = [
  {
    key: "ok",
    name: "Allowed or recorded",
    dot: "bg-accent",
    fill: "var(--accent)",
  },
  { key: "denied", name: "Denied", dot: "bg-bad", fill: "var(--bad)" },
  { key: "failed", name: "Errors", dot: "bg-line-strong", fill: "var(--line-strong)" },
] as const;
