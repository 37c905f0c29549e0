import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileDown, FilterX, Gauge } from "lucide-react";
import { inEnvironment } from "../../format/environments.ts";
import { formatCount } from "../../format/numbers.ts";
import { momentsOf, rangeOf } from "../../format/usage-range.ts";
import { CustomerFilter } from "../../frame/customer-picker.tsx";
import { CustomerLink, EventName, NamedCustomer } from "../../frame/links.tsx";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useEventNames, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Json } from "../../ui/code-block.tsx";
import { EnterField } from "../../ui/filter-field.tsx";
import { Card, Details, EmptyState, Page } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable, type Pages } from "../../ui/table.tsx";
import { readClock, Time, useClock } from "../../ui/time.tsx";
import { RangeFields } from "../../ui/usage/range-fields.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { type EventFilters, eventsQuery, readEventFilters, type UsageEvent } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/events");

export function EventsPage() {
  const scope = useScope();
  const filters = route.useSearch();
  const pages = useSuspenseInfiniteQuery(eventsQuery(scope, filters));
  const events = pages.data.pages.flatMap(({ items }) => items);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const reachesEdge = windowStart !== null && !pages.hasNextPage && !beginsLater(filters, windowStart);
  const hasRange = filters.range !== undefined || filters.from !== undefined;
  return (
    <Page
      title="Events"
      heading="Usage"
      note="Usage events. Events are counted, not charged."
      actions={
        <ButtonLink
          icon={FileDown}
          to="/projects/$projectId/$environment/usage/exports"
          params={scope}
          search={hasRange ? momentsOf(rangeOf(filters, Date.now(), readClock()), Date.now()) : {}}
        >
          Export
        </ButtonLink>
      }
    >
      <SectionTabs section="Usage" />
      <Card flush>
        <EventFilterBar filters={filters} />
        {events.length === 0 && !pages.hasNextPage ? (
          <NoEvents isFiltered={Object.keys(filters).length > 0} hasEarlier={windowStart !== null} />
        ) : (
          <EventsTable pages={pages} events={events} />
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

/** Whether the selected range starts inside the history window. */
function beginsLater(filters: EventFilters, windowStart: string): boolean {
  if (filters.range === undefined && filters.from === undefined) return false;
  return rangeOf(filters, Date.now(), readClock()).from >= Date.parse(windowStart);
}

/** Filters are kept in the URL, so that a list can be shared. */
function EventFilterBar({ filters }: { filters: EventFilters }) {
  const clock = useClock();
  const navigate = route.useNavigate();
  const change = (changed: Partial<Record<keyof EventFilters, unknown>>): void =>
    void navigate({ search: (before) => readEventFilters({ ...before, ...changed }), resetScroll: false });
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <CustomerFilter customerId={filters.customerId} onChange={(customerId) => change({ customerId })} />
      <div className="w-56 max-sm:w-full">
        <EnterField
          type="search"
          label="Event key"
          placeholder="Event key, then press Enter"
          maxLength={120}
          value={filters.event ?? ""}
          onEnter={(event) => change({ event })}
        />
      </div>
      <div className="w-56 max-sm:w-full">
        <EnterField
          type="search"
          label="Member ID"
          placeholder="Member ID, then press Enter"
          maxLength={255}
          value={filters.memberId ?? ""}
          onEnter={(memberId) => change({ memberId })}
        />
      </div>
      <div className="w-64 max-sm:w-full">
        <EnterField
          type="search"
          label="Metadata"
          placeholder="Metadata, e.g. model=large"
          pattern="[^=]+=.*"
          title="Format: field=value, for example model=large"
          maxLength={500}
          value={filters.metadata ?? ""}
          onEnter={(metadata) => change({ metadata })}
        />
      </div>
      <RangeFields
        search={filters}
        range={rangeOf(filters, Date.now(), clock)}
        anyName="Any time"
        onChange={change}
      />
      {Object.keys(filters).length > 0 && (
        <Button tone="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}

function NoEvents({
  isFiltered,
  hasEarlier,
}: {
  isFiltered: boolean;
  /** Whether the history window can hide events. */
  hasEarlier: boolean;
}) {
  const scope = useScope();
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No matches"
        action={
          <ButtonLink to="/projects/$projectId/$environment/usage/events" params={scope} search={{}}>
            Clear filters
          </ButtonLink>
        }
      >
        Filters match exact values. To filter by metadata, enter a top-level field and its value, such as
        model=large.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Gauge}
      title={hasEarlier ? "No events in your history window" : "No events yet"}
      action={
        <ButtonLink to="/projects/$projectId/$environment/first-event" params={scope}>
          {inEnvironment("Send an event", scope.environment, "to")}
        </ButtonLink>
      }
    >
      Your backend records usage with POST /v1/events.
    </EmptyState>
  );
}

function columnsOf(nameOf: (event: string) => string): Column<UsageEvent>[] {
  return [
    {
      name: "Time",
      hidesBelow: "md",
      csv: ({ occurredAt }) => occurredAt,
      cell: ({ occurredAt, recordedAt }) => (
        <>
          <Time at={occurredAt} />
          {isLate(occurredAt, recordedAt) && <div className="text-caption text-muted">Late</div>}
        </>
      ),
    },
    {
      name: "Event",
      csv: ({ event }) => nameOf(event),
      cell: (event) => (
        <>
          <EventName event={event.event} width="max-w-44" />
          <div className="flex flex-wrap gap-x-2 text-caption text-muted md:hidden">
            <Time at={event.occurredAt} />
            <Customer event={event} />
          </div>
        </>
      ),
    },
    {
      name: "Customer",
      hidesBelow: "md",
      csv: ({ customerId, customerName }) => customerName ?? customerId,
      cell: (event) => <Customer event={event} />,
    },
    csvColumn("Event key", ({ event }) => event),
    csvColumn("Customer ID", ({ customerId }) => customerId),
    {
      name: "Metadata",
      isWide: true,
      hidesBelow: "md",
      csv: ({ metadata }) => (metadata === null ? null : JSON.stringify(metadata)),
      cell: (event) => <Metadata event={event} />,
    },
    {
      name: "Quantity",
      isNumber: true,
      csv: ({ quantity }) => quantity,
      cell: ({ quantity }) => formatCount(quantity),
    },
  ];
}

/** Events, newest first. */
function EventsTable({ pages, events }: { pages: Pages; events: readonly UsageEvent[] }) {
  const nameOf = useEventNames();
  return (
    <ListTable
      label="Events"
      what="events"
      pages={pages}
      columns={columnsOf(nameOf)}
      rows={events}
      keyOf={({ eventId }) => eventId}
      details={{
        label: ({ event, occurredAt }) => `Details of ${nameOf(event)}, ${occurredAt}`,
        show: (event) => <EventDetails event={event} />,
      }}
    />
  );
}

const LATE_MS = 60_000;

function isLate(occurredAt: string, recordedAt: string): boolean {
  return Date.parse(recordedAt) - Date.parse(occurredAt) > LATE_MS;
}

function Customer({ event: { customerId, customerName } }: { event: UsageEvent }) {
  return <CustomerLink customerId={customerId} name={customerName} missing="Erased" width="max-w-44" />;
}

function Metadata({ event: { metadata } }: { event: UsageEvent }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return <span className="text-muted">None</span>;
  return (
    <span className="line-clamp-1 font-mono text-caption wrap-anywhere text-muted">
      {entries.map(([name, value]) => `${name}=${textOf(value)}`).join("  ")}
    </span>
  );
}

function EventDetails({ event }: { event: UsageEvent }) {
  return (
    <div className="flex flex-col gap-4">
      <Details
        items={[
          { name: "Event", value: <EventName event={event.event} hasKey /> },
          { name: "Feature", value: "None. Events are not charged." },
          {
            name: "Customer",
            value: <NamedCustomer customerId={event.customerId} name={event.customerName} missing="Erased" />,
          },
          ...(event.memberId === null ? [] : [{ name: "Member", value: event.memberId }]),
          { name: "Occurred", value: <Time at={event.occurredAt} as="exact" /> },
          { name: "Recorded", value: <Time at={event.recordedAt} as="exact" /> },
          { name: "ID", value: <code className="font-mono">{event.eventId}</code> },
          { name: "Request", value: <code className="font-mono">{event.requestId}</code> },
          ...Object.entries(event.metadata ?? {}).map(([name, value]) => ({ name, value: textOf(value) })),
        ]}
      />
      <Json label="the event" value={event} />
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
