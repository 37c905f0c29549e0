import { queryOptions } from "@tanstack/react-query";
import { type Answer, type Item, type Scope, scopeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { pagesOf } from "../../api/lists.ts";
import { toQuery } from "../../api/usage.ts";
import { type SearchOf, searchOf, text } from "../../format/search.ts";
import { type RangeSearch, rangeToTimes, readRangeSearch } from "../../format/usage-range.ts";
import type { UsageSettings } from "../../format/usage-search.ts";
import { readClock } from "../../ui/time.tsx";

/** `featureId` is always null, and the generated client type omits it. */
export type UsageEvent = Omit<Item<"listEvents">, "featureId">;

const EVENTS_PATH = "/manage/v1/projects/{projectId}/{environment}/events";

export function eventsQuery(scope: Scope, filters: EventFilters) {
  return pagesOf(EVENTS_PATH, {
    params: { path: scopeOf(scope), query: rangeToTimes(filters, Date.now(), readClock()) },
  });
}

export type RankedCustomers = Answer<"rankCustomers">;

const RANKED_MAX = 100;

/** The customers with the most usage. */
export function rankedQuery(scope: Scope, settings: UsageSettings) {
  const { bucket: _, timeZone: __, groupBy: ___, ...query } = toQuery({ ...settings, groupBy: "customer" });
  return queryOf(
    "get",
    "/manage/v1/projects/{projectId}/{environment}/usage/customers",
    { params: { path: scopeOf(scope), query: { ...query, limit: String(RANKED_MAX) } } },
    { staleTime: 15_000, meta: { showsOwnErrors: true } },
  );
}

/** Metadata fields in recent events, to group by. */
export function metadataFieldsQuery(scope: Scope) {
  return queryOptions({
    ...queryOf("get", EVENTS_PATH, { params: { path: scopeOf(scope), query: { limit: "50" } } }),
    select: ({ items }) => [...new Set(items.flatMap(({ metadata }) => Object.keys(metadata ?? {})))].sort(),
    staleTime: 60_000,
  });
}

const FILTERS = { event: text(120), customerId: text(), memberId: text(), metadata: text(500, /^[^=]+=/) };
const readFilters = searchOf(FILTERS);

/** List filters in the URL. Without a range, the list has all events in the history window. */
export type EventFilters = RangeSearch & SearchOf<typeof FILTERS>;

export function readEventFilters(search: Record<string, unknown>): EventFilters {
  return { ...readRangeSearch(search, null), ...readFilters(search) };
}
