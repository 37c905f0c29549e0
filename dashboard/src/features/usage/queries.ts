import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Answer, Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { type RangeSearch, rangeOf, readRangeSearch } from "../../format/usage-range.ts";
import { readClock } from "../../ui/preferences.ts";

/** `featureId` is in it too, and always null, which the client's types leave out. */
export type UsageEvent = Omit<Item<"listEvents">, "featureId">;

type EventsPage = { items: UsageEvent[]; nextCursor: string | null; windowStart: string | null };

export type Month = Answer<"readMonth">;

export function eventsQuery({ projectId, environment }: Place, filters: EventFilters) {
  const place = { projectId, environment };
  const query = toQuery(filters);
  return infiniteQueryOptions({
    queryKey: ["events", place, query],
    queryFn: ({ pageParam }): Promise<EventsPage> =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/events", {
          params: { path: place, query: { ...query, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: EventsPage) => nextCursor,
  });
}

function toQuery({ range, from, to, ...filters }: EventFilters) {
  if (range === undefined && from === undefined) return filters;
  const moments = rangeOf(
    { ...(range ? { range } : {}), ...(from && to ? { from, to } : {}) },
    Date.now(),
    readClock(),
  );
  return {
    ...filters,
    from: new Date(moments.from).toISOString(),
    ...(moments.to === null ? {} : { to: new Date(moments.to).toISOString() }),
  };
}

/** Fields that the latest events have in their metadata: what there is to group by. */
export function metadataFieldsQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["events", place, "fields"],
    queryFn: async () => {
      const { items } = await answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/events", {
          params: { path: place, query: { limit: "50" } },
        }),
      );
      const seen = items.flatMap(({ metadata }) => Object.keys(metadata ?? {}));
      return [...new Set(seen)].sort();
    },
    staleTime: 60_000,
  });
}

export function monthQuery({ projectId, environment }: Place, month: string) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["months", place, month],
    queryFn: () =>
      answerOf(
        api.GET("/manage/v1/projects/{projectId}/{environment}/months/{month}", {
          params: { path: { ...place, month } },
        }),
      ),
    // It looks at every wallet.
    staleTime: 60_000,
    meta: { tellsFailures: true },
  });
}

/** What the list is narrowed to; it stands in the address. Without a range it is all that the window shows. */
export type EventFilters = RangeSearch & { event?: string; customerId?: string; metadata?: string };

export function readEventFilters(search: Record<string, unknown>): EventFilters {
  const event = textOf(search["event"], 120);
  const customerId = textOf(search["customerId"], 255);
  const metadata = textOf(search["metadata"], 500);
  return {
    ...readRangeSearch(search, null),
    ...(event === null ? {} : { event }),
    ...(customerId === null ? {} : { customerId }),
    ...(metadata === null || !/^[^=]+=/.test(metadata) ? {} : { metadata }),
  };
}

/** A number in the address comes as one: customers may be called 42. */
function textOf(value: unknown, lengthMax: number): string | null {
  const said = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return said === "" || said.length > lengthMax ? null : said;
}
