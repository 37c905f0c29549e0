import { queryOptions } from "@tanstack/react-query";
import { type Answer, type Scope, scopeOf } from "../../api/answer.ts";
import { answerOf, api, queryOf } from "../../api/client.ts";
import { readPage } from "../../api/lists.ts";
import { searchOf, whole } from "../../format/search.ts";

// Each card has its own query, so that one slow or failed query does not affect the others.

const REFRESH_MS = 15_000;
const SHOWS_OWN_ERRORS = { showsOwnErrors: true };

export function summaryQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/requests/summary",
    { params: { path: scope, query: { hours: "24" } } },
    { meta: SHOWS_OWN_ERRORS, refetchInterval: REFRESH_MS },
  );
}

export function latestRequestsQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/requests",
    { params: { path: scope, query: { limit: "10" } } },
    {
      meta: SHOWS_OWN_ERRORS,
      refetchInterval: REFRESH_MS,
      select: ({ items }: Answer<"listRequests">) => items,
    },
  );
}

export function hasCustomersQuery(scope: Scope) {
  return queryOptions({
    ...queryOf("get", CUSTOMERS_PATH, { params: { path: scope, query: { limit: "1" } } }),
    select: ({ items }) => items.length > 0,
    refetchInterval: ({ state: { data } }) => (data?.items.length ? false : REFRESH_MS),
  });
}

const CUSTOMERS_PATH = "/manage/v1/projects/{projectId}/{environment}/customers";

const SHOWN_MAX = 6;

export const readHomeSearch = searchOf({ balanceBelow: whole() });

/** Default threshold for a low balance. */
export const BALANCE_BELOW = 100;

const FORECASTS_PATH = "/manage/v1/projects/{projectId}/{environment}/forecasts";

/** Reads one more row than shown, to detect whether there are more rows. */
const SOME = { limit: String(SHOWN_MAX + 1) };

function some({ items }: Answer<"listForecasts">) {
  return { customers: items.slice(0, SHOWN_MAX), hasMore: items.length > SHOWN_MAX };
}

/** The customers with the lowest balances below the threshold, each with a forecast. */
export function lowBalancesQuery(scope: Scope, balanceBelow: number) {
  const query = { ...SOME, balanceBelow: String(balanceBelow), sort: "balance" } as const;
  return queryOf(
    "get",
    FORECASTS_PATH,
    { params: { path: scope, query } },
    { meta: SHOWS_OWN_ERRORS, select: some },
  );
}

export const WITHIN_DAYS = 7;

export function runningOutQuery(scope: Scope) {
  const query = { ...SOME, days: String(WITHIN_DAYS) };
  return queryOf(
    "get",
    FORECASTS_PATH,
    { params: { path: scope, query } },
    { meta: SHOWS_OWN_ERRORS, select: some },
  );
}

export const readRunningOutSearch = searchOf({ days: whole(1) });

export const FORECASTS_MAX = 200;

/** Customers who will run out of credits. With `days`, only customers who will run out within this number of days. */
export function forecastsQuery(scope: Scope, days: number | undefined) {
  const query = {
    limit: String(FORECASTS_MAX),
    empty: "true" as const,
    ...(days === undefined ? {} : { days: String(Math.min(days, 365)) }),
  };
  return queryOf("get", FORECASTS_PATH, { params: { path: scopeOf(scope), query } });
}

export function repeatedChargesQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/repeated-charges",
    { params: { path: scope } },
    { meta: SHOWS_OWN_ERRORS },
  );
}

const DAY_MS = 86_400_000;
const BUCKET_MS = 900_000;

/** Charges in the last 24 hours and in the previous 24 hours. */
export function chargedQuery(scope: Scope) {
  return queryOptions({
    queryKey: ["get", TOTALS_PATH, scope, "two days"],
    queryFn: async () => {
      const end = Math.ceil(Date.now() / BUCKET_MS) * BUCKET_MS;
      const read = (daysAgo: number) => {
        const query = { from: timeText(end - (daysAgo + 1) * DAY_MS), to: timeText(end - daysAgo * DAY_MS) };
        return answerOf(api.GET(TOTALS_PATH, { params: { path: scope, query } }));
      };
      const [now, before] = await Promise.all([read(0), read(1)]);
      return now.charges.map(({ pool, credits }) => ({
        pool,
        credits,
        before: before.charges.find((charge) => charge.pool === pool)?.credits ?? 0,
      }));
    },
    meta: SHOWS_OWN_ERRORS,
    refetchInterval: 4 * REFRESH_MS,
  });
}

const TOTALS_PATH = "/manage/v1/projects/{projectId}/{environment}/usage/totals";

function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** Unnamed keys among the latest events. */
export function unnamedEventsQuery(scope: Scope) {
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/event-keys",
    { params: { path: scope, query: { named: "false" } } },
    { meta: SHOWS_OWN_ERRORS, select: ({ items }: Answer<"listEventKeys">) => items },
  );
}

type SupportCase = { readonly customerId: string; readonly from: string; readonly question: string };

/** Questions from customers in the demo data. */
export const SUPPORT_CASES: readonly SupportCase[] = [
  {
    customerId: "org_1009",
    from: "Fernweh Films",
    question: "We rendered one trailer and it cost more than expected. Can you check?",
  },
  {
    customerId: "org_1031",
    from: "Northlight Robotics",
    question:
      "We paid for credits (payment pi_3Sf8QmKz41NorthlightRbt), but our requests are still denied. Where are our credits?",
  },
  {
    customerId: "org_1012",
    from: "Brightpath Learning",
    question: "The other day, our HD exports stopped working before noon. Why? We're on Pro.",
  },
];

/** `purser dev` creates the demo in Test only. The demo is recognized by one customer. */
export function isDemoQuery(scope: Scope) {
  return queryOptions({
    queryKey: ["get", CUSTOMERS_PATH, scope, "demo"],
    queryFn: async () => {
      if (scope.environment !== "test") return false;
      const request = { params: { path: scope, query: { search: "org_1031" } } };
      const { items } = await readPage(CUSTOMERS_PATH, request, { limit: "1" });
      return items.some(
        ({ customerId, name }) => customerId === "org_1031" && name === "Northlight Robotics",
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export type Hour = Answer<"summarizeRequests">["byHour"][number];

/** Chart series in stacking order. */
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
