import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileDown } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { readClock } from "../../ui/preferences.ts";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { momentsOf, rangeOf } from "../../words/usage-range.ts";
import { EventFilterBar } from "./event-filter-bar.tsx";
import type { EventFilters } from "./event-filters.ts";
import { EventsTable } from "./events-table.tsx";
import { NoEvents } from "./no-events.tsx";
import { eventsQuery } from "./queries.ts";
import { UsageTabs } from "./usage-tabs.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/events");

export function EventsPage() {
  const place = usePlace();
  const filters = route.useSearch();
  const pages = useSuspenseInfiniteQuery(eventsQuery(place, filters));
  const events = pages.data.pages.flatMap(({ items }) => items);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const reachesEdge = windowStart !== null && !pages.hasNextPage && !beginsLater(filters, windowStart);
  const hasRange = filters.range !== undefined || filters.from !== undefined;
  return (
    <Page
      title="Events"
      note="Meter readings, by their own time. An event belongs to no feature and moves no credits."
      actions={
        <ButtonLink
          icon={FileDown}
          to="/projects/$projectId/$environment/usage/exports"
          params={place}
          search={hasRange ? momentsOf(rangeOf(filters, Date.now(), readClock()), Date.now()) : {}}
        >
          Export
        </ButtonLink>
      }
    >
      <UsageTabs />
      <Card flush>
        <EventFilterBar filters={filters} />
        {events.length === 0 && !pages.hasNextPage ? (
          <NoEvents isFiltered={Object.keys(filters).length > 0} hasEarlier={windowStart !== null} />
        ) : (
          <>
            <EventsTable events={events} />
            <More pages={pages} shown={events.length} what="events" />
          </>
        )}
        {reachesEdge && (
          <div className="border-t border-line p-4">
            <WindowEdge windowStart={windowStart} />
          </div>
        )}
      </Card>
    </Page>
  );
}

/** Of a list that begins after the window does, nothing is hidden. */
function beginsLater(filters: EventFilters, windowStart: string): boolean {
  if (filters.range === undefined && filters.from === undefined) return false;
  return rangeOf(filters, Date.now(), readClock()).from >= Date.parse(windowStart);
}
