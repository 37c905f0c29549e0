import { queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { readPage, wholeListOf } from "../../api/lists.ts";
import { searchOf, whole } from "../../format/search.ts";

// Each part of the page asks for itself, so that none waits for another or falls with it.

const REFRESH_MS = 15_000;
const TOLD_IN_PLACE = { tellsFailures: true };

export function summaryQuery(place: Place) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/requests/summary",
    { params: { path: place, query: { hours: "24" } } },
    { meta: TOLD_IN_PLACE, refetchInterval: REFRESH_MS },
  );
}

export function latestRequestsQuery(place: Place) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/requests",
    { params: { path: place, query: { limit: "10" } } },
    {
      meta: TOLD_IN_PLACE,
      refetchInterval: REFRESH_MS,
      select: ({ items }: Answer<"listRequests">) => items,
    },
  );
}

export function hasCustomersQuery(place: Place) {
  return queryOptions({
    ...queryOf("get", CUSTOMERS_PATH, { params: { path: place, query: { limit: "1" } } }),
    select: ({ items }) => items.length > 0,
    refetchInterval: ({ state: { data } }) => (data?.items.length ? false : REFRESH_MS),
  });
}

const CUSTOMERS_PATH = "/manage/v1/projects/{projectId}/{environment}/customers";

type Customer = Item<"listCustomers">;

const SHOWN_MAX = 6;
const PAGES_MAX = 4;

export const readHomeSearch = searchOf({ balanceBelow: whole() });

/** What counts as a low balance, unless the address says otherwise. */
export const BALANCE_BELOW = 100;

/** A page of a narrowed list may hold fewer than it could, even none: some more are read, but not the whole list. */
export function lowBalancesQuery(place: Place, balanceBelow: number) {
  const request = { params: { path: place, query: { balanceBelow: String(balanceBelow) } } };
  return queryOptions({
    queryKey: ["get", CUSTOMERS_PATH, request, "low"],
    meta: TOLD_IN_PLACE,
    queryFn: async () => {
      const found: Customer[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX && found.length <= SHOWN_MAX; page += 1) {
        const { items, nextCursor }: { items: Customer[]; nextCursor: string | null } = await readPage(
          CUSTOMERS_PATH,
          request,
          { limit: "50", ...(cursor === null ? {} : { cursor }) },
        );
        found.push(...items);
        cursor = nextCursor;
        if (cursor === null) break;
      }
      return { customers: found.slice(0, SHOWN_MAX), hasMore: cursor !== null || found.length > SHOWN_MAX };
    },
  });
}

/** How many plans an environment offers. */
export function planCountQuery(place: Place) {
  return queryOptions({
    ...wholeListOf("/manage/v1/projects/{projectId}/{environment}/plans", {
      params: { path: place, query: { archived: "false" } },
    }),
    select: ({ length }) => length,
  });
}

/** Among the latest events: keys that nobody has named yet. */
export function unnamedEventsQuery(place: Place) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/event-keys",
    { params: { path: place, query: { named: "false" } } },
    { meta: TOLD_IN_PLACE, select: ({ items }: Answer<"listEventKeys">) => items },
  );
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
    queryKey: ["get", CUSTOMERS_PATH, place, "demo"],
    queryFn: async () => {
      if (place.environment !== "test") return false;
      const request = { params: { path: place, query: { search: "org_1031" } } };
      const { items } = await readPage(CUSTOMERS_PATH, request, { limit: "1" });
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
